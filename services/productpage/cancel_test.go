package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// A customer takes an order back with the button of its page.
func TestCancelling(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	order := b.buy(t, "/checkout?sku=42&qty=2")
	path := order.Request.URL.Path
	order.want(t, http.StatusOK, "Cancel the order", `action="`+path+`/cancel"`)

	for name, cancelled := range map[string]answer{
		"pressed": b.post(path+"/cancel", nil), "pressed again": b.post(path+"/cancel", nil), "reloaded": b.get(path),
	} {
		cancelled.want(t, http.StatusOK, "Your order is cancelled")
		if cancelled.Request.URL.Path != path || strings.Contains(cancelled.body, "Cancel the order") {
			t.Errorf("%s: at %s, with a button: %t", name, cancelled.Request.URL.Path, strings.Contains(cancelled.body, "Cancel the order"))
		}
	}
}

func TestCancellingWhatIsNotTheirs(t *testing.T) {
	shop := start(t, nil)
	path := shop.browser().buy(t, "/checkout?sku=42&qty=1").Request.URL.Path
	stranger := shop.browser()
	stranger.post(path+"/cancel", nil).want(t, http.StatusNotFound, "We cannot find this order")
	stranger.get("/checkout?sku=7&qty=1") // a customer now, but not this one
	stranger.post(path+"/cancel", nil).want(t, http.StatusNotFound, "We cannot find this order")
	stranger.post("/orders/1/cancel", nil).want(t, http.StatusNotFound, "We cannot find this order")
	for _, o := range shop.ledger.orders {
		if o.State != "confirmed" {
			t.Errorf("order %s is %s", o.ID, o.State)
		}
	}
}

// The order was cancelled, the answer got lost: asking again is safe, and happens by itself.
func TestLostAnswerOfACancellation(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	path := b.buy(t, "/checkout?sku=42&qty=1").Request.URL.Path
	var posts atomic.Int32
	honest := shop.ledger.handler()
	shop.orders.become(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && posts.Add(1) == 1 {
			honest.ServeHTTP(discard{http.Header{}}, r)
			reset(w, r)
			return
		}
		honest.ServeHTTP(w, r)
	})
	b.post(path+"/cancel", nil).want(t, http.StatusOK, "Your order is cancelled")
	if posts.Load() != 2 {
		t.Errorf("asked %d times, want 2", posts.Load())
	}
}

// Orders that cannot be placed, because orders cannot reserve, leave the pages of those that were placed alone.
func TestRefusedOrdersLeaveOrderPagesAlone(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	path := b.buy(t, "/checkout?sku=42&qty=1").Request.URL.Path
	honest := shop.ledger.handler()
	shop.orders.become(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			refuse(w, http.StatusServiceUnavailable, "dependency-unavailable", nil)
			return
		}
		honest.ServeHTTP(w, r)
	})
	for range 12 { // far more than open a breaker
		b.post("/checkout", b.get("/checkout?sku=42&qty=1").form()).want(t, http.StatusServiceUnavailable)
	}
	b.get(path).want(t, http.StatusOK, "Thank you!")
}
