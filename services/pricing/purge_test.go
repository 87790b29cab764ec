package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
	"watertight.example/pkg/storetest"
)

// testStore is a store beside the service, as another replica would have it.
func testStore(t *testing.T, database string) *store {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	postgres, err := resilience.New("postgres", resilience.Config{Classify: service.Classify}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &store{pool: pool, postgres: postgres}
}

const oldQuotes = `
INSERT INTO quotes (id, total, currency, created_at, expires_at)
SELECT gen_random_uuid(), 100, 'EUR', now() - age, now() - age + interval '15 minutes'
FROM (SELECT CASE WHEN n <= 1234 THEN interval '24 hours 1 second' ELSE interval '23 hours 59 minutes' END AS age FROM generate_series(1, 1334) AS n) AS q`

// Four replicas delete all that is old, each quote once, with its lines, and nothing that is not.
func TestPurge(t *testing.T) {
	database := storetest.Postgres(t)
	start(t, database, "PURGE_EVERY=1h")
	store, conn := testStore(t, database), connect(t, database)
	for _, sql := range []string{oldQuotes, `INSERT INTO quote_lines (quote_id, position, sku, quantity, unit_amount) SELECT id, 1, 1, 1, 100 FROM quotes`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var deleted [4]int
	var replicas sync.WaitGroup
	for i := range deleted {
		replicas.Go(func() {
			for range 10 {
				n, err := store.purge(t.Context(), 24*time.Hour, 50)
				if err != nil {
					t.Error(err)
				}
				if n > 50 {
					t.Errorf("%d in one batch of at most 50", n)
				}
				deleted[i] += n
			}
		})
	}
	replicas.Wait()
	left, err := store.purge(t.Context(), 24*time.Hour, 5000)
	if err != nil {
		t.Fatal(err)
	}
	if n := deleted[0] + deleted[1] + deleted[2] + deleted[3] + left; n != 1234 {
		t.Errorf("%d quotes deleted, want 1234", n)
	}
	if n := count(t, conn, `SELECT count(*) FROM quotes JOIN quote_lines ON quote_id = id WHERE created_at > now() - interval '24 hours'`); n != 100 {
		t.Errorf("%d young quotes left, want 100", n)
	}
	if n := count(t, conn, `SELECT count(*) FROM quote_lines`); n != 100 {
		t.Errorf("%d lines left, want 100", n)
	}
}

// What another replica is deleting is left to it; nobody waits.
func TestPurgeSkipsWhatIsLocked(t *testing.T) {
	database := storetest.Postgres(t)
	start(t, database, "PURGE_EVERY=1h")
	store, conn := testStore(t, database+"&statement_timeout=5s"), connect(t, database) // ends a replica that waits
	for _, sql := range []string{oldQuotes, `BEGIN`, `SELECT FROM quotes ORDER BY created_at LIMIT 34 FOR UPDATE`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if deleted, err := store.purge(t.Context(), 24*time.Hour, 5000); err != nil || deleted != 1200 {
		t.Errorf("deleted %d, %v; want the 1200 that nobody has locked", deleted, err)
	}
}

// The worker goes on until nothing old is left, more than a batch, and ends with its context.
func TestPurgeWorker(t *testing.T) {
	database := storetest.Postgres(t)
	start(t, database, "PURGE_EVERY=1h")
	store, conn := testStore(t, database), connect(t, database)
	if _, err := conn.Exec(t.Context(), oldQuotes); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- purge(ctx, store, time.Hour, 24*time.Hour) }()
	eventually(t, func() bool { return count(t, conn, `SELECT count(*) FROM quotes`) == 100 })
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}
