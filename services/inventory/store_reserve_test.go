package main

import (
	"errors"
	"reflect"
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
