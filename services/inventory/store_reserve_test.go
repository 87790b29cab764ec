package main

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
)

func TestReserveHoldsEveryLine(t *testing.T) {
	s, heard := newStore(t)
	before1, before42 := s.counters(t, 1), s.counters(t, 42)
	id := uuid.New()
	r := mustReserve(t, s, id, Line{1, 2}, Line{42, 3})
	if r.State != Held || !r.Moved || r.OrderID != id || !reflect.DeepEqual(r.Lines, []Line{{1, 2}, {42, 3}}) {
		t.Errorf("got %+v", r)
	}
	if got := s.counters(t, 1); got != (counters{before1.onHand, before1.reserved + 2}) {
		t.Errorf("sku 1: %+v after %+v", got, before1)
	}
	if got := s.counters(t, 42); got != (counters{before42.onHand, before42.reserved + 3}) {
		t.Errorf("sku 42: %+v after %+v", got, before42)
	}
	if n := s.number(t, `SELECT count(*) FROM reservations WHERE expires_at BETWEEN now() + interval '50 s' AND now() + interval '60 s'`); n != 1 {
		t.Error("the hold does not expire in HOLD_TTL")
	}
	if got := heard.heard(); len(got) != 2 || got[1].SKU != 42 || got[1].Available != 4997 || got[1].Version != 2 {
		t.Errorf("the snapshot heard %+v", got)
	}
	s.mustBalance(t)
}

func TestReserveAgain(t *testing.T) {
	s, heard := newStore(t)
	s.stockOf(t, 7, 2)
	id := uuid.New()
	first := mustReserve(t, s, id, Line{7, 2}) // takes the last: a repeat must not be told that nothing is left
	again := mustReserve(t, s, id, Line{7, 2})
	first.Moved = false
	if !reflect.DeepEqual(again, first) {
		t.Errorf("first %+v, again %+v", first, again)
	}
	mustSettle(t, s, id, Committed)
	if late := mustReserve(t, s, id, Line{7, 2}); late.State != Committed || late.Moved {
		t.Errorf("after the commit: %+v", late)
	}
	if len(heard.heard()) != 2 {
		t.Errorf("a repeat moved stock: %+v", heard.heard())
	}
	s.mustBalance(t)
}

func TestReserveRefused(t *testing.T) {
	s, heard := newStore(t)
	s.stockOf(t, 7, 2)
	held, released := uuid.New(), uuid.New()
	mustReserve(t, s, held, Line{7, 1})
	mustReserve(t, s, released, Line{9, 1})
	mustSettle(t, s, released, Released)
	moved := len(heard.heard())

	for name, c := range map[string]struct {
		id    uuid.UUID
		lines []Line
		want  error
	}{
		"short":             {uuid.New(), []Line{{7, 2}}, &ShortError{[]Shortage{{7, 2, 1}}}},
		"one of two short":  {uuid.New(), []Line{{1, 1}, {7, 2}}, &ShortError{[]Shortage{{7, 2, 1}}}},
		"sold out":          {uuid.New(), []Line{{97, 1}, {194, 3}}, &ShortError{[]Shortage{{97, 1, 0}, {194, 3, 0}}}},
		"unknown":           {uuid.New(), []Line{{1, 1}, {9999, 1}}, &UnknownSKUError{[]int32{9999}}},
		"unknown and short": {uuid.New(), []Line{{97, 1}, {2001, 1}}, &UnknownSKUError{[]int32{2001}}},
		"other quantity":    {held, []Line{{7, 2}}, ErrMismatch},
		"other item":        {held, []Line{{8, 1}}, ErrMismatch},
		"line more":         {held, []Line{{7, 1}, {8, 1}}, ErrMismatch},
		"released":          {released, []Line{{9, 1}}, ErrReleased},
	} {
		if _, err := s.Reserve(t.Context(), c.id, c.lines); !errors.Is(err, c.want) && !reflect.DeepEqual(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if n := s.number(t, `SELECT count(*) FROM reservations`); n != 2 {
		t.Errorf("%d reservations, want the 2 made before", n)
	}
	if got := len(heard.heard()); got != moved {
		t.Error("a refusal moved stock")
	}
	s.mustBalance(t)
}

// A refusal is not remembered: when stock comes back, the same order may have it.
func TestReserveAfterRefusal(t *testing.T) {
	s, _ := newStore(t)
	s.stockOf(t, 7, 1)
	winner, loser := uuid.New(), uuid.New()
	mustReserve(t, s, winner, Line{7, 1})
	if _, err := s.Reserve(t.Context(), loser, []Line{{7, 1}}); err == nil {
		t.Fatal("reserved what another holds")
	}
	mustSettle(t, s, winner, Released)
	mustReserve(t, s, loser, Line{7, 1})
	s.mustBalance(t)
}

// Many buyers, few units: exactly the stock is sold, and everybody else hears "short".
func TestHotItemIsNeverOversold(t *testing.T) {
	s, _ := newStore(t)
	const units, buyers = 10, 100
	s.stockOf(t, 42, units)
	var sold, short atomic.Int64
	var all sync.WaitGroup
	for range buyers {
		all.Go(func() {
			var refused *ShortError
			switch _, err := s.Reserve(t.Context(), uuid.New(), []Line{{42, 1}}); {
			case err == nil:
				sold.Add(1)
			case errors.As(err, &refused):
				short.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if sold.Load() != units || short.Load() != buyers-units {
		t.Errorf("%d sold and %d refused, want %d and %d", sold.Load(), short.Load(), units, buyers-units)
	}
	if got := s.counters(t, 42); got != (counters{units, units}) {
		t.Errorf("counters %+v", got)
	}
	s.mustBalance(t)
}

// One order sent many times at once is held once; all its senders get the same answer.
func TestTwinsReserveOnce(t *testing.T) {
	s, heard := newStore(t)
	for round := range 20 {
		s.stockOf(t, 7, []int32{3, 100}[round%2]) // enough for one of the twins, or for all
		before := len(heard.heard())
		id := uuid.New()
		var made atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				r, err := s.Reserve(t.Context(), id, []Line{{7, 2}})
				if err != nil || r.State != Held {
					t.Errorf("round %d: %+v, %v", round, r, err)
				}
				if r.Moved {
					made.Add(1)
				}
			})
		}
		all.Wait()
		if made.Load() != 1 || len(heard.heard()) != before+1 {
			t.Fatalf("round %d: made %d times", round, made.Load())
		}
		s.mustBalance(t)
	}
}

// Orders of the same items in every order of lines, with commits and releases
// in between, finish without a deadlock, and the books balance.
func TestCrossedOrdersDoNotDeadlock(t *testing.T) {
	s, _ := newStore(t)
	var all sync.WaitGroup
	for worker := range 8 {
		random := rand.New(rand.NewPCG(1, uint64(worker)))
		all.Go(func() {
			for range 40 {
				id := uuid.New()
				lines := []Line{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}[random.IntN(4):]
				if _, err := s.Reserve(t.Context(), id, lines); err != nil {
					t.Error(err)
				}
				to := []State{Committed, Released}[random.IntN(2)]
				var twins sync.WaitGroup
				twins.Go(func() { _, _ = s.Reserve(t.Context(), id, lines) }) // a late twin
				twins.Go(func() {
					if _, err := s.Settle(t.Context(), id, to); err != nil {
						t.Error(err)
					}
				})
				twins.Wait()
			}
		})
	}
	all.Wait()
	if n := s.number(t, `SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
	if n := s.number(t, `SELECT count(*) FROM reservations WHERE state = 'held'`); n != 0 {
		t.Errorf("%d reservations still held", n)
	}
	s.mustBalance(t)
}
