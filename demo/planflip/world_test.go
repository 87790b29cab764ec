package planflip

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const service = "../../services/recommendations/"

// newDatabase gives the URL of a database as the shop has it, made by the shop's own SQL: with the role demo, and seeded. The
// first URL is its owner's, the second demo's. It takes seconds, and roles belong to the server: one test makes one for all parts.
func newDatabase(t *testing.T) (owner, demo string) {
	t.Helper()
	owner = storetest.Postgres(t)
	conn := connect(t, owner)
	var database string
	if err := conn.QueryRow(t.Context(), `SELECT current_database()`).Scan(&database); err != nil {
		t.Fatal(err)
	}
	role := read(t, "../../deploy/postgres/demo.sql")
	role = strings.NewReplacer(`:'password'`, `'flip'`, `:"database"`, database).Replace(role)
	exec(t, conn, role+`; RESET ROLE`)
	files, err := filepath.Glob(service + "migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		statements := []string{read(t, file)}
		if strings.Contains(statements[0], "+goose NO TRANSACTION") {
			statements = strings.SplitAfter(statements[0], ";\n")
		}
		for _, sql := range statements {
			exec(t, conn, sql)
		}
	}
	// A fifth of the orders, whole and spread over products and days: the plans are the same and the tests faster.
	exec(t, conn, `DELETE FROM order_items WHERE order_id % 5 <> order_id / 2000 % 5`)
	exec(t, conn, `VACUUM (FULL, ANALYZE) order_items`)
	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("demo", "flip")
	return owner, u.String()
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func open(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func exec(t *testing.T, db DB, sql string, args ...any) {
	t.Helper()
	if _, err := db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// ask runs a query with one value as its result.
func ask[T any](t *testing.T, db DB, sql string, args ...any) (value T) {
	t.Helper()
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// is checks how things are.
func is(t *testing.T, db DB, flipped, recorded bool) {
	t.Helper()
	s, err := State(t.Context(), db)
	if err != nil || s.Plan.Flipped != flipped || s.Until.IsZero() == recorded {
		t.Errorf("flipped: %t, until %s, %v; want flipped: %t, with an end: %t\n%s",
			s.Plan.Flipped, s.Until, err, flipped, recorded, s.Plan.Text)
	}
}
