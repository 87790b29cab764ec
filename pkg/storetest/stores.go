package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	postgresImage = "postgres:17-alpine"
	redisImage    = "redis:8-alpine"
	password      = "storetest" // of a server that only this machine reaches, for minutes
)

// Numbers of the databases this test binary has handed out.
var postgresSerial, redisSerial atomic.Int64

// redisDatabases is how many logical databases the Redis container has.
const redisDatabases = 256

// Postgres returns the URL of a new, empty database, owned by the user in the
// URL. It is dropped with the container. Safe for parallel tests.
func Postgres(t testing.TB) string {
	t.Helper()
	addr := postgres.start(t, testcontainers.ContainerRequest{
		Image:        postgresImage,
		ExposedPorts: []string{"5432/tcp"},
		Env:          map[string]string{"POSTGRES_PASSWORD": password},
		// Durability is what a throw-away store can do without; the data
		// directory in memory makes the start twice as fast.
		Cmd:   []string{"postgres", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300"},
		Tmpfs: map[string]string{"/var/lib/postgresql/data": "rw"},
		// Twice: the entrypoint starts a private server for its own set-up first.
		WaitingFor: wait.ForLog("ready to accept connections").WithOccurrence(2).WithStartupTimeout(90 * time.Second),
	})
	url := func(database string) string {
		return fmt.Sprintf("postgres://postgres:%s@%s/%s?sslmode=disable", password, addr, database)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	admin, err := pgx.Connect(ctx, url("postgres"))
	if err != nil {
		t.Fatalf("storetest: connect: %v", err)
	}
	defer admin.Close(ctx)
	name := fmt.Sprintf("test_%d", postgresSerial.Add(1))
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("storetest: create database: %v", err)
	}
	return url(name)
}

// Redis returns the URL of an empty logical database. A test
// binary has 256 of them; the test fails when they are used up. Safe for parallel tests.
func Redis(t testing.TB) string {
	t.Helper()
	addr := redis.start(t, testcontainers.ContainerRequest{
		Image:        redisImage,
		ExposedPorts: []string{"6379/tcp"},
		Cmd:          []string{"redis-server", "--save", "", "--appendonly", "no", "--databases", fmt.Sprint(redisDatabases)},
		WaitingFor:   wait.ForLog("Ready to accept connections").WithStartupTimeout(60 * time.Second),
	})
	n := redisSerial.Add(1) - 1
	if n >= redisDatabases {
		t.Fatalf("storetest: all %d logical databases of the Redis container are in use", redisDatabases)
	}
	url := fmt.Sprintf("redis://%s/%d", addr, n)
	opt, err := goredis.ParseURL(url)
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	client := goredis.NewClient(opt)
	defer client.Close()
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatalf("storetest: flush: %v", err)
	}
	return url
}
