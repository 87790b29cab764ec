package main

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

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
	s.exec(t, `CREATE SCHEMA standby`)
	s.exec(t, `CREATE FUNCTION standby.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'`)
	cfg := s.db.Config().Copy()
	cfg.ConnConfig.RuntimeParams["search_path"] = "standby, public, pg_catalog" // ours is found first
	standby, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Close)

	beat := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	s.exec(t, `UPDATE heartbeat SET at = $1`, beat)
	if st, err := readStock(t.Context(), standby, []int32{7}); err != nil || !st.AsOf.Equal(beat) {
		t.Errorf("as of %v, %v; want the heartbeat %v", st.AsOf, err, beat)
	}
	if err := s.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := readStock(t.Context(), standby, []int32{7}); err != nil || !st.AsOf.After(beat) {
		t.Errorf("as of %v, %v; want the new heartbeat", st.AsOf, err)
	}
	s.exec(t, `DELETE FROM heartbeat`)
	if st, err := readStock(t.Context(), standby, []int32{7}); err == nil {
		t.Errorf("a replica of unknown age answered %+v", st)
	}
	if err := s.Beat(t.Context()); err != nil {
		t.Fatalf("first beat of an empty table: %v", err)
	}
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
	w := &window{db: gone, replica: unhurried(t, "postgres-replica", replicaPolicy()), primary: s}
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
