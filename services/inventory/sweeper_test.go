package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// newSweeper sweeps s and asks an orders that answers as told.
func newSweeper(t *testing.T, s *store, answer http.HandlerFunc) *sweeper {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return &sweeper{
		store: s, orders: &orders{url: server.URL, dep: unhurried(t, "orders", ordersPolicy())},
		metrics: newMetrics(prometheus.NewRegistry()), log: slog.New(slog.DiscardHandler),
	}
}

func resolved(w http.ResponseWriter, id, state string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"order_id":%q,"state":%q}`, id, state)
}

func TestSweeperSettlesOnEvidence(t *testing.T) {
	s, _ := newStore(t)
	s.hold = -time.Second
	confirmed, abandoned, young := uuid.New(), uuid.New(), uuid.New()
	mustReserve(t, s, confirmed, Line{7, 1})
	mustReserve(t, s, abandoned, Line{7, 2})
	s.hold = time.Minute
	mustReserve(t, s, young, Line{7, 3})
	before := s.counters(t, 7)

	sw := newSweeper(t, s, func(w http.ResponseWriter, r *http.Request) {
		id, found := strings.CutPrefix(r.URL.Path, "/resolve/")
		if !found || r.Method != http.MethodPost || id == young.String() {
			t.Errorf("asked %s %s", r.Method, r.URL.Path)
		}
		resolved(w, id, map[string]string{confirmed.String(): "confirmed", abandoned.String(): "abandoned"}[id])
	})
	if err := sw.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uuid.UUID]State{confirmed: Committed, abandoned: Released, young: Held} {
		if r, err := s.Reservation(t.Context(), id); err != nil || r.State != want {
			t.Errorf("%+v, %v; want %s", r, err, want)
		}
	}
	if got, want := s.counters(t, 7), (counters{before.onHand - 1, before.reserved - 3}); got != want {
		t.Errorf("counters %+v, want %+v", got, want)
	}
	s.mustBalance(t)
}

func TestSweeperKeepsTheHoldWithoutEvidence(t *testing.T) {
	other := uuid.New().String()
	for name, answer := range map[string]http.HandlerFunc{
		"error":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"unavailable":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"not found":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"empty 200":        func(http.ResponseWriter, *http.Request) {},
		"html":             func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome</html>") },
		"other state":      func(w http.ResponseWriter, r *http.Request) { resolved(w, r.URL.Path[9:], "cancelled") },
		"another's answer": func(w http.ResponseWriter, _ *http.Request) { resolved(w, other, "abandoned") },
		"cut off":          func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"redirect":         func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t)
			s.hold = -time.Second
			id := uuid.New()
			mustReserve(t, s, id, Line{7, 1})
			sw := newSweeper(t, s, answer)
			if err := sw.sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Reservation(t.Context(), id); err != nil || r.State != Held {
				t.Errorf("%+v, %v; want it held", r, err)
			}
			if n := testutil.ToFloat64(sw.metrics.sweeps.WithLabelValues(sweepKept)); n != 1 {
				t.Errorf("%v kept, want 1", n)
			}
		})
	}
}

// A backlog is worked off in one go while orders answers, and only probed while it does not.
func TestSweeperBacklog(t *testing.T) {
	s, _ := newStore(t)
	s.hold = -time.Second
	const backlog = 2*sweepBatch + 5
	for range backlog {
		mustReserve(t, s, uuid.New(), Line{42, 1})
	}
	var healthy atomic.Bool
	var asked atomic.Int64
	sw := newSweeper(t, s, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if !healthy.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		resolved(w, strings.TrimPrefix(r.URL.Path, "/resolve/"), "abandoned")
	})
	if err := sw.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != sweepBatch {
		t.Errorf("asked %d times while orders is down, want one batch of %d", n, sweepBatch)
	}
	healthy.Store(true)
	s.exec(t, `UPDATE reservations SET sweep_at = now()`)
	if err := sw.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.number(t, `SELECT count(*) FROM reservations WHERE state = 'held'`); n != 0 {
		t.Errorf("%d still held", n)
	}
	s.mustBalance(t)
}
