package main

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

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
