package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestCompleterFinishesWhatNobodyAsksFor(t *testing.T) {
	s := open(t, "COMPLETE_AFTER=1ms", "COMPLETE_EVERY=10ms")
	good, refused := s.pricing.body(Item{42, 1}), s.pricing.body(Item{42, 99})
	id := s.crashed("good", good)
	s.crashed("refused", refused)
	done := `SELECT count(*) FROM idempotency_keys WHERE state = 1`
	s.eventually("both keys done", func() bool { return s.count(done) == 2 })
	if a := s.order("good", good).is(t, 201, ""); a.order(t).ID != id || a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %v, want a replay of order %s", a.body, a.header, id)
	}
	s.order("refused", refused).is(t, 422, "insufficient-stock")
	s.wantOrders(1)
}

func TestCompleterWaitsOutAnOutage(t *testing.T) {
	s := open(t, "COMPLETE_AFTER=1ms", "COMPLETE_EVERY=10ms", "INVENTORY_OPEN_FOR=1ms")
	s.inventory.fail(http.StatusInternalServerError)
	s.crashed("x", s.pricing.body(Item{42, 1}))
	s.eventually("a second attempt of the completer", func() bool { return s.inventory.asked("POST") >= 2 })
	s.wantOrders(0)
	s.inventory.behave(nil)
	s.eventually("the order", func() bool { return s.count(`SELECT count(*) FROM orders`) == 1 })
}

// TestUnreadableKeyComesToAnEnd and keeps nobody from being completed, however many there are.
func TestUnreadableKeyComesToAnEnd(t *testing.T) {
	s := closed(t)
	body := s.pricing.body(Item{42, 1})
	for i := range completerBatch + 1 {
		s.crashed(fmt.Sprint("damaged-", i), body)
	}
	s.exec(`UPDATE idempotency_keys SET request = CASE key WHEN $1 THEN NULL ELSE convert_to('{"quote', 'UTF8') END`, keyText("damaged-0"))
	s.crashed("good", body)
	p, counts := s.patient(s.db), prometheus.NewRegistry()
	p.metrics = newMetrics(counts)
	c := &completer{keys: p.keys, placing: p, log: p.log}
	if err := c.round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.count(`SELECT count(*) FROM idempotency_keys WHERE state = 0`); n != 0 {
		t.Errorf("%d keys have no end", n)
	}
	s.wantOrders(1)
	families, err := counts.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := f.GetMetric()[0].GetCounter().GetValue(); f.GetName() == "orders_unreadable_total" && n != completerBatch+1 {
			t.Errorf("%v unreadable keys counted, want %d", n, completerBatch+1)
		}
	}
	s.url = s.start()
	s.order("damaged-0", body).is(t, 422, "order-unreadable")
	s.order("anew", body).is(t, 201, "")
}
