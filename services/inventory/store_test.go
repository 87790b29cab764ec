package main

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// recorder hears movements as the snapshot would.
type recorder struct {
	mu     sync.Mutex
	counts []Count
}

func (r *recorder) moved(counts []Count) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts = append(r.counts, counts...)
}

func (r *recorder) heard() []Count {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.counts)
}

// newStore is a store on a migrated, seeded database of its own.
func newStore(t testing.TB) (*store, *recorder) {
	t.Helper()
	url := storetest.Postgres(t)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	conns := defaults(t).PrimaryConns
	cfg.MaxConns = int32(conns)
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(t.Context()), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	heard := &recorder{}
	return &store{db: pool, dep: unhurried(t, "postgres-primary", defaults(t).primaryPolicy()), hot: newHotItems(conns),
		hold: time.Minute, moved: heard.moved}, heard
}

// defaults is the Config of an empty environment.
func defaults(t testing.TB) *Config {
	t.Helper()
	cfg := &Config{}
	if err := service.Load(cfg, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// window is a shop window on this replica, with the store's database as primary.
func (s *store) window(t testing.TB, replica *pgxpool.Pool) *window {
	t.Helper()
	cfg := defaults(t)
	primary := unhurried(t, "postgres-primary-reads", cfg.primaryReadPolicy())
	return &window{replica: replica, primary: s.db, dep: unhurried(t, "postgres-replica", cfg.replicaPolicy(primary)), lag: &lag{most: cfg.ReplicaMaxLag}}
}

// unhurried is a dependency whose limits a busy test machine cannot reach, so
// that tests of the SQL are not tests of the clock.
func unhurried(t testing.TB, name string, cfg resilience.Config) *resilience.Dependency {
	t.Helper()
	cfg.Timeout = resilience.Timeout{Total: time.Minute}
	cfg.Bulkhead, cfg.Adaptive, cfg.Breaker = resilience.Bulkhead{}, resilience.Adaptive{}, resilience.Breaker{}
	dep, err := resilience.New(name, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dep.Close)
	return dep
}

type counters struct{ onHand, reserved int32 }

func (s *store) counters(t testing.TB, sku int32) (c counters) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), `SELECT on_hand, reserved FROM items WHERE sku = $1`, sku).Scan(&c.onHand, &c.reserved); err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *store) number(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *store) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	if _, err := s.db.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// stockOf gives an item exactly n on hand, with a ledger that says so.
func (s *store) stockOf(t testing.TB, sku, n int32) {
	t.Helper()
	s.exec(t, `TRUNCATE movements, restocks, reservation_lines, reservations`)
	s.exec(t, `UPDATE items SET on_hand = CASE sku WHEN $1 THEN $2 ELSE on_hand END, reserved = 0`, sku, n)
	s.exec(t, `INSERT INTO movements (sku, kind, on_hand, reserved) SELECT sku, 'receipt', on_hand, 0 FROM items WHERE on_hand > 0`)
}

// mustBalance fails when counters, ledger and holds disagree anywhere.
func (s *store) mustBalance(t testing.TB) {
	t.Helper()
	if n := s.number(t, `SELECT count(*) FROM discrepancies`); n != 0 {
		t.Errorf("%d items whose counters, ledger and holds disagree", n)
	}
}

func mustReserve(t testing.TB, s *store, id uuid.UUID, lines ...Line) Reservation {
	t.Helper()
	r, err := s.Reserve(t.Context(), id, lines)
	if err != nil {
		t.Fatalf("reserve %v: %v", lines, err)
	}
	return r
}

func mustSettle(t testing.TB, s *store, id uuid.UUID, to State) Reservation {
	t.Helper()
	r, err := s.Settle(t.Context(), id, to)
	if err != nil {
		t.Fatalf("settle to %s: %v", to, err)
	}
	return r
}
