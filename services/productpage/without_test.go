package main

import (
	"net/http"
	"testing"

	"watertight.example/pkg/service"
)

// The short forms of -without fallback and -without idempotency: what each is there for breaks without it. The chassis' own six are in
// pkg/service/without_test.go.

func TestWithoutFallbackAPartTakesThePageAlong(t *testing.T) {
	for without, want := range map[string]int{"": http.StatusOK, "fallback": http.StatusServiceUnavailable} {
		shop := start(t, map[string]string{"RESILIENCE_WITHOUT": without})
		b := shop.browser()
		b.get("/products/42").want(t, http.StatusOK)
		shop.recommendations.become(down)
		if a := b.get("/products/43"); a.StatusCode != want {
			t.Errorf("without %q: %d, want %d", without, a.StatusCode, want)
		}
	}
}

func TestWithoutIdempotencyPressingTwiceOrdersTwice(t *testing.T) {
	for without, want := range map[string]int{"": 1, "idempotency": 2} {
		shop := start(t, map[string]string{"RESILIENCE_WITHOUT": without})
		b := shop.browser()
		form := b.get("/checkout?sku=42&qty=1").form()
		b.post("/checkout", form)
		b.post("/checkout", form)
		shop.ledger.mu.Lock()
		if n := len(shop.ledger.orders); n != want {
			t.Errorf("without %q: %d orders, want %d", without, n, want)
		}
		shop.ledger.mu.Unlock()
	}
}

// Whatever is left out, all five services start and sell: otherwise there would be nothing to see of it. The budgets and shares that are
// checked at the start do not add up any more without deadlines or bulkheads.
func TestTheShopStartsWithoutEachPattern(t *testing.T) {
	programs := neighbours(t)
	for _, without := range service.Patterns() {
		t.Run(string(without), func(t *testing.T) {
			c := slowMotion()
			if without == service.Deadline {
				c = (&Config{Resilience: true, Base: service.Base{Without: without}}).contract()
			}
			b := startWhole(t, programs, c, map[string]string{"RESILIENCE_WITHOUT": string(without)}).browser()
			b.get("/products/42").want(t, http.StatusOK)
			b.buy(t, "/checkout?sku=42&qty=1")
		})
	}
}
