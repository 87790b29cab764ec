package main

import (
	"errors"
	"reflect"
	"testing"

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
