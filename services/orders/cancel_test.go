package main

import (
	"sync"
	"testing"

	"github.com/google/uuid"
)

func cancelPath(o Order) string { return "/orders/" + o.ID.String() + "/cancel" }

func TestCancelIsAStateAndAnEvent(t *testing.T) {
	s := open(t, "RELAY_EVERY=10ms")
	body := s.pricing.body(Item{42, 2})
	placed := s.order("x", body).is(t, 201, "")
	o := placed.order(t)
	s.do("POST", cancelPath(o), "", bob).is(t, 404, "order-not-found") // a foreign order is no order
	s.do("POST", cancelPath(o), "").is(t, 400, "customer-id-invalid")
	if n := s.count(`SELECT count(*) FROM outbox WHERE kind = 'restock'`); n != 0 {
		t.Fatalf("%d returns of an order nobody cancelled", n)
	}
	for range 2 {
		got := s.do("POST", cancelPath(o), "", alice).is(t, 200, "").order(t)
		if got.ID != o.ID || got.State != Cancelled || got.Total != o.Total || len(got.Lines) != 1 {
			t.Errorf("cancelled = %+v", got)
		}
	}
	s.eventually("everything delivered", func() bool { return s.count(undelivered) == 0 })
	if events := s.inventory.returned(o.ID); len(events) != 1 {
		t.Errorf("goods came back by %d events, want 1", len(events))
	}
	s.wantOrders(1) // nothing is deleted
	sameBytes(t, placed, s.order("x", body))
	if a := s.do("POST", "/resolve/"+o.ID.String(), ""); string(a.body) != `{"order_id":"`+o.ID.String()+`","state":"confirmed"}`+"\n" {
		t.Errorf("resolve: %s", a.body)
	}
}

func TestCancelOfWhatIsNoOrder(t *testing.T) {
	s := open(t)
	tombstone := uuid.NewString()
	s.do("POST", "/resolve/"+tombstone, "")
	for _, id := range []string{uuid.NewString(), tombstone, "7"} {
		s.do("POST", "/orders/"+id+"/cancel", "", alice).is(t, 404, "order-not-found")
	}
	if n := s.count(`SELECT count(*) FROM outbox`); n != 0 {
		t.Errorf("%d events", n)
	}
}

func TestConcurrentCancelsReturnGoodsOnce(t *testing.T) {
	s := open(t)
	o := s.order("x", s.pricing.body(Item{42, 1})).is(t, 201, "").order(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if a, err := s.send(t.Context(), "POST", s.url+cancelPath(o), "", alice); err != nil || a.status != 200 {
				t.Errorf("%d %s %v", a.status, a.body, err)
			}
		})
	}
	wg.Wait()
	if n := s.count(`SELECT count(*) FROM outbox WHERE kind = 'restock'`); n != 1 {
		t.Errorf("%d returns, want 1", n)
	}
}

// TestCrashOfACancellation: state and event come together or not at all, and the goods come back once.
func TestCrashOfACancellation(t *testing.T) {
	for _, c := range []struct {
		dieAt string
		state State // that the crash leaves
	}{
		{"before cancel", Confirmed}, {"after cancel", Cancelled},
		{"after lease", Cancelled}, {"after restock", Cancelled}, {"before settle", Cancelled}, {"after settle", Cancelled},
	} {
		t.Run(c.dieAt, func(t *testing.T) {
			s, h := closed(t), heard{}
			first := s.mortal("")
			s.mustAsk(first, s.placement(s.pricing.body(Item{42, 1})), h)
			id := s.confirmed()[0].ID
			first.on[c.dieAt] = first.die
			_, _ = first.store.cancel(t.Context(), id, "alice")
			_, _ = first.relays[kindRestock].round(t.Context())
			s.reached(first, c.dieAt)
			if n := s.count(`SELECT count(*) FROM orders WHERE state = $1`, c.state); n != 1 {
				t.Errorf("the crash left no %s order", c.state)
			}

			second := s.mortal("")
			if _, err := second.store.cancel(t.Context(), id, "alice"); err != nil {
				t.Fatal(err)
			}
			s.settled(second, s.resolve)
			if events := s.inventory.returned(id); len(events) != 1 {
				t.Errorf("goods came back by %d events, want 1", len(events))
			}
			if n := s.count(undelivered); n != 0 {
				t.Errorf("%d events undelivered", n)
			}
		})
	}
}
