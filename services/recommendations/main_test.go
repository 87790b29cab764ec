package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/service/servicetest"
	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// start runs the whole service on the database until the test ends and returns its address once it is ready.
func start(t *testing.T, database string, knobs ...string) string {
	t.Helper()
	env := map[string]string{"DATABASE_URL": database}
	for _, knob := range knobs {
		name, value, _ := strings.Cut(knob, "=")
		env[name] = value
	}
	instance := servicetest.Start(t, run, env)
	instance.WaitReady(t)
	return instance.URL
}

// template is the URL of a migrated and seeded database, made by the first test that needs one.
var template struct {
	sync.Mutex
	url string
}

// seeded returns the URL of a database of the test's own, as the migrations leave it. Seeding takes seconds and copying the
// result does not, so it happens once.
func seeded(t *testing.T) string {
	t.Helper()
	own := storetest.Postgres(t)
	template.Lock()
	defer template.Unlock()
	if template.url == "" {
		url := storetest.Postgres(t)
		t.Run("seed", func(t *testing.T) {
			instance := servicetest.Start(t, run, map[string]string{"DATABASE_URL": url, "ROLL_IN_EVERY": "1h"})
			eventually(t, func() bool { return strings.Contains(instance.Log(), `"msg":"ready"`) })
		})
		template.url = url
	}
	config, err := pgx.ParseConfig(template.url)
	if err != nil {
		t.Fatal(err)
	}
	ownName := own[strings.LastIndex(own, "/")+1 : strings.Index(own, "?")]
	from := config.Database
	config.Database = "postgres"
	admin, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	for _, sql := range []string{"DROP DATABASE " + ownName, "CREATE DATABASE " + ownName + " TEMPLATE " + from} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return own
}

// connect opens a connection of the test's own, beside the service's.
func connect(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// ask sends a request, checks the status, and decodes the answer into out, which may be nil. It returns the problem's type, if
// the answer is one.
func ask(t *testing.T, method, url, body string, status int, out any) (problem string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s", method, url, resp.StatusCode, status, answer)
	}
	if resp.Header.Get("Content-Type") == "application/problem+json" {
		var p struct{ Type string }
		if err := json.Unmarshal(answer, &p); err != nil {
			t.Fatal(err)
		}
		problem = p.Type
	}
	if out != nil {
		if err := json.NewDecoder(bytes.NewReader(answer)).Decode(out); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
	}
	return problem
}

// count runs a query with one number as its result.
func count(t *testing.T, conn *pgx.Conn, sql string, args ...any) (n int64) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// eventually waits for something that takes seconds at most, and gives a loaded machine three minutes.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("still waiting after three minutes")
		}
	}
}
