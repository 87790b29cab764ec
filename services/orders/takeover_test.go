package main

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"watertight.example/pkg/idempotency"
)

func TestCrashedOwnerIsTakenOverWithTheSameOrderID(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	id := s.crashed("x", body)
	if got := s.order("x", body).is(t, 201, "").order(t).ID; got != id {
		t.Errorf("order id %s, want the first owner's %s: its reservation would be orphaned", got, id)
	}
	s.wantOrders(1)
}

func TestClaimedKeyIsRefusedUntilItsLeaseEnds(t *testing.T) {
	s := open(t, "KEY_WAIT=1ms")
	body := s.pricing.body(Item{42, 1})
	s.crashed("x", body)
	s.exec(`UPDATE idempotency_keys SET lease_until = now() + interval '1 hour'`)
	a := s.order("x", body).is(t, http.StatusConflict, "request-in-progress")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After = %q", a.header.Get("Retry-After"))
	}
	if c := s.do("GET", "/checkouts/"+keyText("x"), "", alice); string(c.body) != "{\"state\":\"in_progress\"}\n" {
		t.Errorf("checkout = %s", c.body)
	}
	s.wantOrders(0)
}

func TestFrozenOwnerIsFenced(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	var first atomic.Bool
	var heir answer
	// The first owner freezes while it reserves, for longer than its lease: meanwhile another request places the order.
	s.inventory.behave(func(http.ResponseWriter, *http.Request) bool {
		if first.CompareAndSwap(false, true) {
			s.expireLeases()
			heir = s.order("x", body)
		}
		return false
	})
	late := s.patient(s.db)
	_, err := late.place(t.Context(), keyText("x"), s.placement(body))
	if !errors.Is(err, idempotency.ErrFenced) {
		t.Fatalf("the late owner: %v, want ErrFenced", err)
	}
	var r *idempotency.Refusal // its client repeats the request and gets the heir's answer
	if !errors.As(err, &r) || r.Status != http.StatusConflict || r.RetryAfter == 0 {
		t.Errorf("refusal = %+v, want a 409 worth repeating", r)
	}
	sameBytes(t, heir.is(t, 201, ""), s.order("x", body))
	s.wantOrders(1)
	if n := s.count(`SELECT count(*) FROM outbox`); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
	if n := s.inventory.sold(42); n != 1 {
		t.Errorf("%d held, want 1", n)
	}
}

func TestTombstoneStopsALateConfirmation(t *testing.T) {
	for name, released := range map[string]bool{
		"at inventory: the hold was released": true,
		"at our own primary key":              false, // the answer to the sweeper is still on its way
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			body := s.pricing.body(Item{42, 1})
			id := s.crashed("x", body)
			if a := s.do("POST", "/resolve/"+id.String(), ""); a.status != 200 || string(a.body) != `{"order_id":"`+id.String()+`","state":"abandoned"}`+"\n" {
				t.Fatalf("resolve: %d %s", a.status, a.body)
			}
			if released {
				s.inventory.set(id, "released")
			}
			o := s.order("x", body).is(t, 201, "").order(t)
			if o.ID == id {
				t.Error("the order was confirmed under an id that was declared dead")
			}
			if got := s.inventory.stateOf(o.ID); got != "held" && got != "committed" { // the relay may have been quick
				t.Errorf("the order's stock is %q, want it held", got)
			}
			s.wantOrders(1)
			s.do("GET", "/orders/"+id.String(), "", alice).is(t, 404, "order-not-found")
		})
	}
}

func TestResolveTellsTheTruthOfAnOrder(t *testing.T) {
	s := open(t)
	o := s.order("x", s.pricing.body(Item{42, 1})).is(t, 201, "").order(t)
	want := `{"order_id":"` + o.ID.String() + `","state":"confirmed"}` + "\n"
	for _, state := range []State{Confirmed, Cancelled} { // a cancelled order's hold became a sale; its stock returns otherwise
		s.exec(`UPDATE orders SET state = $1 WHERE state <> $1`, state)
		if a := s.do("POST", "/resolve/"+o.ID.String(), ""); string(a.body) != want {
			t.Errorf("%s: %s", state, a.body)
		}
	}
	unknown := uuid.NewString()
	for range 2 {
		if a := s.do("POST", "/resolve/"+unknown, ""); string(a.body) != `{"order_id":"`+unknown+`","state":"abandoned"}`+"\n" {
			t.Errorf("unknown: %s", a.body)
		}
	}
}

func TestOrderOutlivesItsKeyRow(t *testing.T) {
	s := open(t)
	body, other := s.pricing.body(Item{42, 1}), s.pricing.body(Item{42, 2})
	first := s.order("x", body).is(t, 201, "")
	purge := func() {
		s.exec(`DELETE FROM idempotency_keys`)
		s.exec(`UPDATE orders SET created_at = created_at`) // the order itself stays
	}
	flush(t, s.redis)
	for name, pricing := range map[string]func(){
		"its quote still known": func() {},
		"its quote purged too":  s.pricing.forget,
	} {
		pricing()
		purge()
		flush(t, s.redis)
		s.order("x", other).is(t, 422, "idempotency-key-reused")
		purge()
		flush(t, s.redis)
		again := s.order("x", body)
		sameBytes(t, first, again)
		if again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: not marked as a replay", name)
		}
		s.order("x", other).is(t, 422, "idempotency-key-reused")
		purge()
		if c := s.do("GET", "/checkouts/"+keyText("x"), "", alice); string(c.body) != `{"state":"confirmed","order_id":"`+first.order(t).ID.String()+"\"}\n" {
			t.Errorf("%s: checkout = %s", name, c.body)
		}
	}
	s.wantOrders(1)
}
