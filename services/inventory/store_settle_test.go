package main

import (
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestSettle(t *testing.T) {
	s, heard := newStore(t)
	for _, c := range []struct {
		to    State
		after counters
		left  int32
	}{
		{Committed, counters{3, 0}, 3},
		{Released, counters{5, 0}, 5},
	} {
		s.stockOf(t, 7, 5)
		id := uuid.New()
		held := mustReserve(t, s, id, Line{7, 2})
		first := mustSettle(t, s, id, c.to)
		if !first.Moved || first.State != c.to || !reflect.DeepEqual(first.Lines, held.Lines) {
			t.Errorf("%s: %+v", c.to, first)
		}
		told := heard.heard()
		if last := told[len(told)-1]; last.SKU != 7 || last.Available != c.left {
			t.Errorf("%s: the snapshot heard %+v", c.to, last)
		}
		again := mustSettle(t, s, id, c.to)
		if again.Moved || again.State != c.to || len(heard.heard()) != len(told) {
			t.Errorf("%s again: %+v", c.to, again)
		}
		if got := s.counters(t, 7); got != c.after {
			t.Errorf("%s: counters %+v, want %+v", c.to, got, c.after)
		}
		s.mustBalance(t)
	}
}

func TestSettleRefused(t *testing.T) {
	s, _ := newStore(t)
	done, gone := uuid.New(), uuid.New()
	mustReserve(t, s, done, Line{1, 1})
	mustSettle(t, s, done, Committed)
	mustReserve(t, s, gone, Line{1, 1})
	mustSettle(t, s, gone, Released)
	for name, c := range map[string]struct {
		id   uuid.UUID
		to   State
		want error
	}{
		"release of a sale":         {done, Released, ErrCommitted},
		"commit of what was let go": {gone, Committed, ErrReleased},
		"commit of nothing":         {uuid.New(), Committed, ErrNotFound},
	} {
		if _, err := s.Settle(t.Context(), c.id, c.to); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	s.mustBalance(t)
}

// The tombstone: orders gave up before its reserve arrived.
func TestReleaseOfUnknownOrderForbidsTheLateReserve(t *testing.T) {
	s, _ := newStore(t)
	id := uuid.New()
	if r := mustSettle(t, s, id, Released); r.State != Released || r.Moved || len(r.Lines) != 0 {
		t.Errorf("tombstone %+v", r)
	}
	mustSettle(t, s, id, Released)
	if _, err := s.Reserve(t.Context(), id, []Line{{1, 1}}); !errors.Is(err, ErrReleased) {
		t.Errorf("late reserve: %v", err)
	}
	if _, err := s.Settle(t.Context(), id, Committed); !errors.Is(err, ErrReleased) {
		t.Errorf("late commit: %v", err)
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

func TestLeaseDue(t *testing.T) {
	s, _ := newStore(t)
	young, old, done := uuid.New(), uuid.New(), uuid.New()
	mustReserve(t, s, young, Line{1, 1})
	s.hold = -time.Second
	mustReserve(t, s, old, Line{1, 1})
	mustReserve(t, s, done, Line{1, 1})
	mustSettle(t, s, done, Committed)

	due, err := s.LeaseDue(t.Context(), 10)
	if err != nil || !reflect.DeepEqual(due, []uuid.UUID{old}) {
		t.Fatalf("due %v, %v; want only %v", due, err, old)
	}
	if due, err := s.LeaseDue(t.Context(), 10); err != nil || len(due) != 0 {
		t.Errorf("leased twice: %v, %v", due, err)
	}
}

// The pauses between two looks at one hold, exactly: inside a transaction now() stands still.
func TestLeaseDueBacksOff(t *testing.T) {
	s, _ := newStore(t)
	id := uuid.New()
	mustReserve(t, s, id, Line{1, 1})
	tx, err := s.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for i, want := range []int{2, 4, 8, 10, 10} {
		var seconds int
		if _, err := tx.Exec(t.Context(), `UPDATE reservations SET sweep_at = now() WHERE id = $1`, id); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), leaseDue, 10); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRow(t.Context(), `SELECT extract(epoch FROM sweep_at - now())::int FROM reservations`).Scan(&seconds); err != nil {
			t.Fatal(err)
		}
		if seconds != want {
			t.Errorf("look %d: again in %d s, want %d", i+1, seconds, want)
		}
	}
}

// Two sweepers never lease the same hold.
func TestLeaseDueIsShared(t *testing.T) {
	s, _ := newStore(t)
	s.hold = -time.Second
	const holds = 60
	for range holds {
		mustReserve(t, s, uuid.New(), Line{42, 1})
	}
	s.exec(t, `UPDATE reservations SET sweeps = 8`) // the longest lease: a slow machine must not see it end
	var mu sync.Mutex
	times := map[uuid.UUID]int{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				due, err := s.LeaseDue(t.Context(), 5)
				if err != nil {
					t.Error(err)
				}
				if len(due) == 0 {
					return
				}
				mu.Lock()
				for _, id := range due {
					times[id]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(times) != holds {
		t.Errorf("%d of %d holds leased", len(times), holds)
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("%v leased %d times", id, n)
		}
	}
}
