package main

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
)

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

// Whatever races, an order ends in one state and its stock moves once.
func TestReserveCommitAndReleaseRace(t *testing.T) {
	s, _ := newStore(t)
	for range 40 {
		id := uuid.New()
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { _, err := s.Reserve(t.Context(), id, []Line{{1, 1}, {2, 1}}); mustBeRefusal(t, err) })
			all.Go(func() { _, err := s.Settle(t.Context(), id, Committed); mustBeRefusal(t, err) })
			all.Go(func() { _, err := s.Settle(t.Context(), id, Released); mustBeRefusal(t, err) })
		}
		all.Wait()
		r, err := s.Reservation(t.Context(), id)
		if err != nil || r.State == Held {
			t.Fatalf("ended as %+v, %v", r, err)
		}
	}
	s.mustBalance(t)
	if n := s.number(t, `SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// mustBeRefusal accepts no error and a "no"; the schema's last line of defence must never have to speak.
func mustBeRefusal(t testing.TB, err error) {
	if err != nil && (!isRefusal(err) || errors.Is(err, ErrContended)) {
		t.Error(err)
	}
}
