package storetest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestDatabasesAreEmptyAndSeparate(t *testing.T) {
	ctx := t.Context()
	for range 2 {
		conn, err := pgx.Connect(ctx, storetest.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "CREATE TABLE marker (id int)"); err != nil {
			t.Fatalf("the second test sees the first one's table: %v", err)
		}
	}
}

func TestRedisDatabasesAreEmptyAndSeparate(t *testing.T) {
	ctx := t.Context()
	for range 2 {
		opt, err := redis.ParseURL(storetest.Redis(t))
		if err != nil {
			t.Fatal(err)
		}
		client := redis.NewClient(opt)
		defer client.Close()
		if n := client.DBSize(ctx).Val(); n != 0 {
			t.Fatalf("%d keys in a new database", n)
		}
		if err := client.Set(ctx, "marker", 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
