package main

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/resilience"
)

func TestReadStock(t *testing.T) {
	s, _ := newStore(t)
	s.stockOf(t, 7, 5)
	before := time.Now().Add(-time.Minute) // the container shares this machine's clock
	for name, c := range map[string]struct {
		skus    []int32
		items   []Item
		unknown []int32
	}{
		"known and unknown": {[]int32{7, 97, 2001}, []Item{{7, 5}, {97, 0}}, []int32{2001}},
		"only unknown":      {[]int32{9999}, []Item{}, []int32{9999}},
	} {
		st, err := s.Stock(t.Context(), c.skus)
		if err != nil || !reflect.DeepEqual(st.Items, c.items) || !reflect.DeepEqual(st.Unknown, c.unknown) {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
		if st.AsOf.Before(before) || st.AsOf.After(time.Now().Add(time.Minute)) {
			t.Errorf("%s: as of %v", name, st.AsOf)
		}
	}
}

// A replica is not at hand in a unit test; what can be shown here is that its
// branch of the query reads the heartbeat, and that none is an error.
func TestReplicaIsAsOldAsItsHeartbeat(t *testing.T) {
	s, _ := newStore(t)
	standby := s.standby(t)
	beat := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	s.exec(t, `UPDATE heartbeat SET at = $1`, beat)
	if st, err := readStock(t.Context(), standby, []int32{7}); err != nil || !st.AsOf.Equal(beat) {
		t.Errorf("as of %v, %v; want the heartbeat %v", st.AsOf, err, beat)
	}
	if _, err := s.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := readStock(t.Context(), standby, []int32{7}); err != nil || !st.AsOf.After(beat) {
		t.Errorf("as of %v, %v; want the new heartbeat", st.AsOf, err)
	}
	s.exec(t, `DELETE FROM heartbeat`)
	if st, err := readStock(t.Context(), standby, []int32{7}); err == nil {
		t.Errorf("a replica of unknown age answered %+v", st)
	}
	if _, err := s.Beat(t.Context()); err != nil {
		t.Fatalf("first beat of an empty table: %v", err)
	}
}

// standby is the same database, believing that it is a replica.
func (s *store) standby(t *testing.T) *pgxpool.Pool {
	t.Helper()
	s.exec(t, `CREATE SCHEMA standby`)
	s.exec(t, `CREATE FUNCTION standby.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'`)
	cfg := s.db.Config().Copy()
	cfg.ConnConfig.RuntimeParams["search_path"] = "standby, public, pg_catalog" // ours is found first
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(t.Context()), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// The window reads the replica, and the primary when the replica fails.
func TestWindowFailsOver(t *testing.T) {
	s, _ := newStore(t)
	s.stockOf(t, 7, 5)
	gone, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none?sslmode=disable") // refused
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gone.Close)
	w := s.window(t, gone)
	for range 3 {
		if st, err := w.Stock(t.Context(), []int32{7}); err != nil || st.Items[0].Available != 5 {
			t.Fatalf("%+v, %v", st, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Stock(ctx, []int32{7}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
}

// A replica that is behind is not believed: its answer says so itself, and the
// primary is asked. Its as_of tells which of the two has answered.
func TestWindowLeavesAReplicaThatIsBehind(t *testing.T) {
	s, _ := newStore(t)
	w := s.window(t, s.standby(t))
	registry := prometheus.NewRegistry()
	w.lag.export(registry)
	if n := lagMetric(t, registry); !math.IsNaN(n) {
		t.Errorf("a lag of %v before anything is known", n)
	}
	if err := w.lag.beat(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		behind  time.Duration
		replica bool
	}{{0, true}, {4900 * time.Millisecond, true}, {5100 * time.Millisecond, false}, {time.Hour, false}, {0, true}} {
		beat := time.Unix(0, w.lag.written.Load()).Add(-c.behind)
		s.exec(t, `UPDATE heartbeat SET at = $1`, beat)
		st, err := w.Stock(t.Context(), []int32{7})
		if err != nil || st.AsOf.Equal(beat.Truncate(time.Microsecond)) != c.replica {
			t.Errorf("%v behind: as of %v, %v; want the replica's %v: %v", c.behind, st.AsOf, err, beat, c.replica)
		}
		if err := w.lag.watch(t.Context(), w.replica); err != nil {
			t.Fatal(err)
		}
		if n := lagMetric(t, registry); math.Abs(n-c.behind.Seconds()) > 0.001 {
			t.Errorf("the metric says %v s at %v", n, c.behind)
		}
	}
}

func lagMetric(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "inventory_replica_lag_seconds" {
		t.Fatalf("%v, %v", families, err)
	}
	return families[0].GetMetric()[0].GetGauge().GetValue()
}

func TestRefusalsAreAnswers(t *testing.T) {
	code := func(c string) error { return &pgconn.PgError{Code: c} }
	for name, c := range map[string]struct {
		err  error
		want resilience.Outcome
	}{
		"nothing":           {nil, resilience.OutcomeSuccess},
		"not enough":        {&ShortError{}, resilience.OutcomeSuccess},
		"unknown item":      {&UnknownSKUError{}, resilience.OutcomeSuccess},
		"mismatch":          {ErrMismatch, resilience.OutcomeSuccess},
		"statement timeout": {code("57014"), resilience.OutcomeTimeout},
		"shutting down":     {code("57P01"), resilience.OutcomeFailure},
	} {
		if got := classify(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
