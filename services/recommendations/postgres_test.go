package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"watertight.example/pkg/storetest"
)

func TestTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for left, want := range map[time.Duration]string{
			10 * time.Second:       "800", // the cap
			120 * time.Millisecond: "90",  // a quarter less
			12 * time.Millisecond:  "7",   // never less than 5 ms for the way back
			4 * time.Millisecond:   "1",   // 0 would be no limit
			-time.Second:           "1",
		} {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			if got := timeLeft(ctx, 800*time.Millisecond); got != want {
				t.Errorf("%v left: %s, want %s", left, got, want)
			}
			cancel()
		}
		if got := timeLeft(t.Context(), 800*time.Millisecond); got != "800" {
			t.Errorf("no deadline: %s", got)
		}
	})
}

// Postgres ends the statement of a caller with little time, the connection lives on, and its own limit is back.
func TestStatementEndsBeforeConnection(t *testing.T) {
	s := testStore(t, storetest.Postgres(t)+"&statement_timeout=7s&pool_max_conns=1")
	backend := func() int32 {
		t.Helper()
		pids, err := query(t.Context(), s, pgx.RowTo[int32], `SELECT pg_backend_pid()`)
		if err != nil {
			t.Fatal(err)
		}
		return pids[0]
	}
	before := backend()
	s.statementTimeout = 10 * time.Millisecond
	_, err := query(t.Context(), s, pgx.RowTo[string], `SELECT pg_sleep(60)::text`)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "57014" {
		t.Fatalf("a sick statement ended with %v, want 57014", err)
	}
	s.statementTimeout = time.Minute
	if after := backend(); after != before {
		t.Errorf("the connection was lost: backend %d, before %d", after, before)
	}
	for want, ask := range map[string]func() (string, error){
		"1min": func() (string, error) {
			v, err := query(t.Context(), s, pgx.RowTo[string], `SHOW statement_timeout`)
			return v[0], err
		},
		"7s": func() (v string, err error) {
			err = s.pool.QueryRow(t.Context(), `SHOW statement_timeout`).Scan(&v)
			return v, err
		},
	} {
		if got, err := ask(); err != nil || got != want {
			t.Errorf("statement_timeout %q, %v; want %q", got, err, want)
		}
	}
}
