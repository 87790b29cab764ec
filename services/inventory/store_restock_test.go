package main

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/google/uuid"
)

func mustRestock(t testing.TB, s *store, event, order uuid.UUID) Reservation {
	t.Helper()
	r, err := s.Restock(t.Context(), event, order)
	if err != nil {
		t.Fatalf("restock: %v", err)
	}
	return r
}

func TestRestockBringsGoodsBackOnce(t *testing.T) {
	s, heard := newStore(t)
	s.stockOf(t, 7, 5)
	order, event := uuid.New(), uuid.New()
	held := mustReserve(t, s, order, Line{7, 2}, Line{42, 1})
	mustSettle(t, s, order, Committed)
	first := mustRestock(t, s, event, order)
	if !first.Moved || first.State != Committed || !reflect.DeepEqual(first.Lines, held.Lines) {
		t.Errorf("restock: %+v", first)
	}
	told := heard.heard()
	if last := told[len(told)-2:]; last[0].Available+last[1].Available != 5+s.counters(t, 42).onHand {
		t.Errorf("the snapshot heard %+v", last)
	}
	again := mustRestock(t, s, event, order)
	if again.Moved || !reflect.DeepEqual(again.Lines, held.Lines) || len(heard.heard()) != len(told) {
		t.Errorf("again: %+v", again)
	}
	if got := s.counters(t, 7); got != (counters{5, 0}) {
		t.Errorf("counters %+v, want all 5 back", got)
	}
	if n := s.number(t, `SELECT count(*) FROM movements WHERE kind = 'return' AND order_id = $1`, order); n != 2 {
		t.Errorf("%d lines in the ledger, want 2", n)
	}
	s.mustBalance(t)
}

// The events of one order travel separately: the return may arrive before the sale.
func TestRestockOvertakesTheCommit(t *testing.T) {
	s, _ := newStore(t)
	s.stockOf(t, 7, 5)
	order := uuid.New()
	mustReserve(t, s, order, Line{7, 2})
	if r := mustRestock(t, s, uuid.New(), order); !r.Moved || r.State != Committed {
		t.Errorf("restock of a hold: %+v", r)
	}
	if r := mustSettle(t, s, order, Committed); r.Moved {
		t.Error("the late commit moved stock")
	}
	if got := s.counters(t, 7); got != (counters{5, 0}) {
		t.Errorf("counters %+v", got)
	}
	s.mustBalance(t)
}

func TestRestockRefused(t *testing.T) {
	s, _ := newStore(t)
	sold, other, gone := uuid.New(), uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{sold, other, gone} {
		mustReserve(t, s, id, Line{1, 1})
	}
	mustSettle(t, s, sold, Committed)
	mustSettle(t, s, other, Committed)
	mustSettle(t, s, gone, Released)
	event := uuid.New()
	mustRestock(t, s, event, sold)
	before := s.counters(t, 1)
	for name, c := range map[string]struct {
		event, order uuid.UUID
		want         error
	}{
		"a second event for the order":   {uuid.New(), sold, ErrRestocked},
		"the event for another order":    {event, other, ErrRestocked},
		"an order that was never sold":   {uuid.New(), gone, ErrReleased},
		"an order that never was":        {uuid.New(), uuid.New(), ErrNotFound},
		"the event for an unknown order": {event, uuid.New(), ErrRestocked},
	} {
		if _, err := s.Restock(t.Context(), c.event, c.order); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if got := s.counters(t, 1); got != before {
		t.Errorf("refusals moved stock: %+v, were %+v", got, before)
	}
	s.mustBalance(t)
}

func TestConcurrentRestocksMoveOnce(t *testing.T) {
	s, _ := newStore(t)
	s.stockOf(t, 7, 5)
	order, event := uuid.New(), uuid.New()
	mustReserve(t, s, order, Line{7, 2})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			var err error
			if i%3 == 0 {
				_, err = s.Settle(t.Context(), order, Committed)
			} else {
				_, err = s.Restock(t.Context(), event, order)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := s.counters(t, 7); got != (counters{5, 0}) {
		t.Errorf("counters %+v, want 5 on hand", got)
	}
	s.mustBalance(t)
}

func TestRestockOverHTTP(t *testing.T) {
	server, _ := newAPI(t)
	order, event := uuid.NewString(), uuid.NewString()
	call(t, server, "POST", "/reservations/"+order, `{"lines":[{"sku":42,"quantity":1}]}`)
	call(t, server, "POST", "/reservations/"+order+"/commit", "")
	for _, step := range []struct {
		path, body string
		status     int
		problem    any
	}{
		{"/restocks/" + event, `{"order_id":"` + order + `"}`, 201, nil},
		{"/restocks/" + event, `{"order_id":"` + order + `"}`, 200, nil},
		{"/restocks/" + uuid.NewString(), `{"order_id":"` + order + `"}`, 422, "/problems/restock-mismatch"},
		{"/restocks/" + event, `{"order_id":"` + uuid.NewString() + `"}`, 422, "/problems/restock-mismatch"},
		{"/restocks/" + uuid.NewString(), `{"order_id":"` + uuid.NewString() + `"}`, 404, "/problems/reservation-not-found"},
		{"/restocks/" + uuid.NewString(), `{}`, 400, "/problems/malformed-request"},
		{"/restocks/7", `{"order_id":"` + order + `"}`, 400, "/problems/malformed-request"},
	} {
		status, answer := call(t, server, "POST", step.path, step.body)
		if status != step.status || answer["type"] != step.problem {
			t.Errorf("%s %s: %d %v, want %d %v", step.path, step.body, status, answer, step.status, step.problem)
		}
		if step.problem == nil && (answer["event_id"] != event || answer["order_id"] != order || len(answer["lines"].([]any)) != 1) {
			t.Errorf("answer %v", answer)
		}
	}
}
