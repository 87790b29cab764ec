package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/idempotency"
)

// The invariants that orders owes the shop, each read from where the truth is: the database and what the neighbours know. A test
// demands that none is violated; a mutant must violate the one it is named for.
const (
	oneOrder     = "I1: one intent, one order"
	nothingLost  = "I2: an order that was answered for exists"
	oneAnswer    = "I3: one answer per key"
	stockAddsUp  = "I4: every order has its stock, no stock is held for nothing"
	terminal     = "I5: every key comes to an end"
	acknowledged = "I6: every order was answered for"
	eventsOnce   = "every order's events arrive, once in effect"
)

// heard is what clients got: final answers by key. Clients repeat until they have one.
type heard map[string][]idempotency.Answer

func (h heard) add(key string, a idempotency.Answer) { h[key] = append(h[key], a) }

// settled lets everything that runs by itself come to rest: inventory's sweeper asks about each hold, relays deliver.
func (s *shop) settled(m *mortal, resolve func(uuid.UUID) State) {
	s.t.Helper()
	for range 3 { // a batch each; the tests have a handful of events
		s.due()
		for _, r := range m.relays {
			if _, err := r.round(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.sweep(resolve)
}

// sweep is inventory's sweeper, when all holds are past their time.
func (s *shop) sweep(resolve func(uuid.UUID) State) {
	s.t.Helper()
	for id, state := range s.inventory.all() {
		if state != "held" {
			continue
		}
		switch resolve(id) {
		case Confirmed:
			s.inventory.set(id, "committed")
		case Abandoned:
			s.inventory.set(id, "released")
		}
	}
}

// resolve is what POST /resolve says.
func (s *shop) resolve(id uuid.UUID) State {
	s.t.Helper()
	state, err := s.patient(s.db).store.tombstone(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// violations names the invariants that do not hold, once everything is settled.
func (s *shop) violations(h heard) (broken []string) {
	s.t.Helper()
	orders := s.confirmed()
	perKey := map[string]int{}
	for _, o := range orders {
		perKey[o.Key]++
	}
	report := func(ok bool, name string) {
		if !ok && !slices.Contains(broken, name) {
			broken = append(broken, name)
		}
	}
	for _, n := range perKey {
		report(n == 1, oneOrder)
	}
	acked := map[uuid.UUID]bool{}
	for _, answers := range h {
		for _, a := range answers {
			report(a.Status == answers[0].Status && bytes.Equal(a.Body, answers[0].Body), oneAnswer)
			if a.Status != http.StatusCreated {
				continue
			}
			var o Order
			report(json.Unmarshal(a.Body, &o) == nil && slices.ContainsFunc(orders, func(c confirmedOrder) bool { return c.ID == o.ID }), nothingLost)
			acked[o.ID] = true
		}
	}
	report(s.count(`SELECT count(*) FROM idempotency_keys WHERE state = 0`) == 0 && !s.marker, terminal)
	states := s.inventory.all()
	sold := 0
	for _, o := range orders {
		report(acked[o.ID], acknowledged)
		report(states[o.ID] == "committed", stockAddsUp)
		sold += o.Quantity
	}
	report(s.inventory.sold(42) == sold, stockAddsUp)
	purchases := map[uuid.UUID]int{}
	for _, p := range s.recs.known() {
		purchases[p.OrderID]++
	}
	for _, o := range orders {
		report(purchases[o.ID] == 1, eventsOnce)
	}
	report(len(purchases) == len(orders), eventsOnce)
	report(s.count(undelivered) == 0, eventsOnce)
	return broken
}

// confirmedOrder is an order that was placed, of one line.
type confirmedOrder struct {
	ID       uuid.UUID
	Key      string
	Quantity int
}

func (s *shop) confirmed() []confirmedOrder {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(), `
SELECT id, idem_key, quantity FROM orders JOIN order_lines ON order_id = id WHERE state = 'confirmed'`)
	if err != nil {
		s.t.Fatal(err)
	}
	orders, err := pgx.CollectRows(rows, pgx.RowToStructByPos[confirmedOrder])
	if err != nil {
		s.t.Fatal(err)
	}
	return orders
}

// holds fails the test unless every invariant does.
func (s *shop) holds(h heard) {
	s.t.Helper()
	if broken := s.violations(h); broken != nil {
		s.t.Errorf("violated: %q%s", broken, s.dump())
	}
}

// bites fails the test unless the mutant violates the named invariant.
func (s *shop) bites(h heard, name string) {
	s.t.Helper()
	if broken := s.violations(h); !slices.Contains(broken, name) {
		s.t.Errorf("the mutant went unnoticed: violated %q, want %q%s", broken, name, s.dump())
	}
}

func (s *shop) dump() string {
	return fmt.Sprintf("\norders %v\nholds %v", s.confirmed(), s.inventory.all())
}
