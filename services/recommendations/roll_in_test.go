package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// testStore is a store beside the service, as another replica would have it, without limits that a loaded machine could meet.
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
	return &store{pool: pool, postgres: postgres, statementTimeout: time.Minute}
}

// Four replicas roll in at once while others read: each purchase is counted exactly once at every moment and afterwards.
func TestRollInIsExactlyOnce(t *testing.T) {
	const purchases = 120
	database := seeded(t)
	store, conn := testStore(t, database), connect(t, database)
	for range purchases {
		if _, err := store.record(t.Context(), purchase{EventID: uuid.New(), OrderID: uuid.New(), Lines: []line{{100, 1}, {500, 3}}}); err != nil {
			t.Fatal(err)
		}
	}
	counted := func() int64 {
		pairs, err := store.boughtTogether(t.Context(), 100, 1)
		if err != nil || len(pairs) == 0 || pairs[0].ProductID != 500 {
			t.Errorf("100 was bought with %v, %v; want 500 first", pairs, err)
			return 0
		}
		return pairs[0].Together
	}
	var replicas sync.WaitGroup
	for range 4 {
		replicas.Go(func() {
			for range purchases / 3 {
				if _, err := store.rollIn(t.Context(), 3); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	rolledIn := make(chan struct{})
	go func() { replicas.Wait(); close(rolledIn) }()
	for done := false; !done; {
		select {
		case <-rolledIn:
			done = true
		default:
		}
		if n := counted(); n != purchases {
			t.Fatalf("counted %d of %d purchases while they were rolled in", n, purchases)
		}
	}
	// A replica that finds everything locked by others does nothing; what is left is the next tick's.
	if _, err := store.rollIn(t.Context(), purchases); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int64{
		`SELECT count(*) FROM live_items`:                                                                         0,
		`SELECT count(*) FROM purchases WHERE rolled_in_at IS NULL`:                                               0,
		`SELECT count(*) FROM order_items WHERE order_id >= 1000000 AND order_day = '` + salesDay + `'`:           2 * purchases,
		`SELECT sum(qty) FROM order_items WHERE order_id >= 1000000`:                                              4 * purchases,
		`SELECT count(*) FROM pg_stat_user_tables WHERE relname = 'order_items' AND last_autoanalyze IS NOT NULL`: 0,
	} {
		if got := count(t, conn, sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
	if n := counted(); n != purchases {
		t.Errorf("counted %d of %d purchases after all were rolled in", n, purchases)
	}
}

// What another replica has locked is left to it; nobody waits.
func TestRollInSkipsWhatIsLocked(t *testing.T) {
	database := seeded(t)
	store, conn := testStore(t, database), connect(t, database)
	for range 5 {
		if _, err := store.record(t.Context(), purchase{EventID: uuid.New(), OrderID: uuid.New(), Lines: []line{{1, 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT FROM purchases ORDER BY order_number LIMIT 2 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	store.statementTimeout = 5 * time.Second // ends a replica that waits
	if moved, err := store.rollIn(t.Context(), 10); err != nil || moved != 3 {
		t.Errorf("moved %d, %v; want the 3 that nobody has locked", moved, err)
	}
}

// The worker takes everything that is there, in batches, and ends with its context.
func TestRollInWorker(t *testing.T) {
	database := seeded(t)
	store, conn := testStore(t, database), connect(t, database)
	for range 7 {
		if _, err := store.record(t.Context(), purchase{EventID: uuid.New(), OrderID: uuid.New(), Lines: []line{{1, 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- rollIn(ctx, store, time.Hour, 2) }()
	eventually(t, func() bool { return count(t, conn, `SELECT count(*) FROM live_items`) == 0 })
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}
