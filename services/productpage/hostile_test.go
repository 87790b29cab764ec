package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// slack is what this machine may add to the page's budget when its two cores are busy with something else. The hostile answers
// below would take for ever, so the bound tells the two apart.
const slack = 3 * time.Second

// Issue: whatever one service sends, the page answers in its budget, says which part is not whole, and is full again afterwards.
func TestHostileUpstreams(t *testing.T) {
	shop := start(t, map[string]string{"PRICING_OPEN_FOR": "1ms", "INVENTORY_OPEN_FOR": "1ms", "RECOMMENDATIONS_OPEN_FOR": "1ms"})
	b := shop.browser()
	id := 100 // a new product each time: nothing is known about it yet
	for _, part := range []struct {
		name    string
		service *fakeService
		healthy http.HandlerFunc
	}{
		{"price", shop.pricing, healthyPricing().ServeHTTP},
		{"stock", shop.inventory, healthyInventory().ServeHTTP},
		{"recommendations", shop.recommendations, healthyRecommendations().ServeHTTP},
	} {
		for _, h := range hostilities() {
			t.Run(part.name+"/"+h.name, func(t *testing.T) {
				id++
				before := part.service.count()
				part.service.become(h.handler)
				checkDegraded(t, b, id, part.name)
				if part.service.count() == before {
					t.Error("the service was not even asked")
				}
				part.service.become(part.healthy)
				until(t, "a whole page", func() bool {
					a := b.get(fmt.Sprintf("/products/%d", id))
					return a.StatusCode == http.StatusOK && a.Header.Get("Degraded") == ""
				})
			})
		}
	}
}

// checkDegraded asks for a product of which only one part may be missing.
func checkDegraded(t *testing.T, b *browser, id int, part string) {
	t.Helper()
	a := b.get(fmt.Sprintf("/products/%d", id))
	a.want(t, http.StatusOK, "not all of it is live")
	if budget := slowMotion().page; a.took > budget+slack {
		t.Errorf("took %v, the budget is %v", a.took, budget)
	}
	if got := a.Header.Get("Degraded"); got != part {
		t.Errorf("Degraded: %q, want %q", got, part)
	}
	if strings.Contains(a.body, "<script") || strings.Contains(a.body, "captive portal") {
		t.Error("something of the hostile answer is in the page")
	}
}

// checkDegradedJSON is checkDegraded for programs.
func checkDegradedJSON(t *testing.T, b *browser, id int, part string) {
	t.Helper()
	a, p := b.json(fmt.Sprintf("/products/%d", id))
	if a.StatusCode != http.StatusOK || !slices.Equal(p.Degraded, []string{part}) || p.Product.ID != id {
		t.Errorf("JSON: %d %+v", a.StatusCode, p)
	}
	if (p.Price == nil) != (part == "price") || (p.Stock == nil) != (part == "stock") {
		t.Errorf("JSON: price %+v, stock %+v", p.Price, p.Stock)
	}
}

func TestRefusedConnections(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for env, part := range map[string]string{"PRICING_URL": "price", "INVENTORY_URL": "stock", "RECOMMENDATIONS_URL": "recommendations"} {
		t.Run(part, func(t *testing.T) {
			shop := start(t, map[string]string{env: closed.URL})
			checkDegraded(t, shop.browser(), 42, part)
			checkDegradedJSON(t, shop.browser(), 43, part)
		})
	}
}

// All at once, and Redis frozen too: a page still, and no goroutine stays behind.
func TestEverythingHangs(t *testing.T) {
	frozen, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, never answers
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	budget := ourContract().page
	shop := startWith(t, ourContract(), map[string]string{"REDIS_URL": "redis://" + frozen.Addr().String()})
	b := shop.browser()
	b.get("/products/7").want(t, http.StatusOK)
	before := runtime.NumGoroutine()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, s := range []*fakeService{shop.pricing, shop.inventory, shop.recommendations, shop.orders} {
		s.become(hang)
	}
	quickest := time.Hour
	for id := 1001; id <= 1030; id++ {
		a := b.get(fmt.Sprintf("/products/%d", id))
		a.want(t, http.StatusOK, "Price unavailable", "We cannot count our stock right now")
		if got := a.Header.Get("Degraded"); got != "price, stock, recommendations" {
			t.Errorf("product %d: Degraded: %q", id, got)
		}
		if a.took > budget+slack {
			t.Errorf("product %d took %v", id, a.took)
		}
		quickest = min(quickest, a.took)
	}
	if quickest > budget {
		t.Errorf("the quickest of 30 pages took %v, the budget is %v", quickest, budget)
	}
	b.get("/").want(t, http.StatusOK, "The whole shop")
	b.get("/?category=kitchen").want(t, http.StatusOK, "Kitchen")
	until(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before+20 })
}
