package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// metric reads one series from the internal listener; labels must appear in it in any order.
func (r *running) metric(name string, labels ...string) float64 {
	r.t.Helper()
	req, _ := http.NewRequest(http.MethodGet, r.internal+"/metrics", nil)
	a := r.browser().do(req)
	a.want(r.t, http.StatusOK)
series:
	for _, m := range regexp.MustCompile(`(?m)^`+name+`\{(.*)\} (\S+)$`).FindAllStringSubmatch(a.body, -1) {
		for _, label := range labels {
			if !strings.Contains(m[1], label) {
				continue series
			}
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			r.t.Fatal(err)
		}
		return v
	}
	r.t.Fatalf("no series %s%v", name, labels)
	return 0
}

// Zero errors say nothing about a degraded page; the metric does, once per answer and by the worst of its parts.
func TestDegradedAnswersAreCounted(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	count := func(reason string) float64 {
		return shop.metric("degraded_responses_total", `route="/products/{id}"`, `reason="`+reason+`"`)
	}
	b.get("/products/42").want(t, 200)
	for _, reason := range []string{"stale", "fallback_cache", "fallback_empty"} {
		if n := count(reason); n != 0 {
			t.Errorf("%s is %v after a whole page", reason, n)
		}
	}
	shop.pricing.become(down)
	b.get("/products/42").want(t, 200) // last known price
	if n := count("stale"); n != 1 {
		t.Errorf("stale is %v after one stale page", n)
	}
	shop.inventory.become(down)
	b.get("/products/42").want(t, 200) // and no count at all
	if stale, empty := count("stale"), count("fallback_empty"); stale != 1 || empty != 1 {
		t.Errorf("stale %v, fallback_empty %v; want 1 and 1", stale, empty)
	}
}

func TestEveryDependencyIsMeasured(t *testing.T) {
	shop := start(t, nil)
	shop.browser().buy(t, "/checkout?sku=42&qty=1")
	shop.browser().get("/products/42").want(t, 200)
	shop.inventory.become(down)
	shop.browser().get("/products/43").want(t, 200)
	for _, dependency := range []string{"recommendations", "inventory", "pricing", "orders", "orders-reads", "redis", "postgres"} {
		if n := shop.metric("dependency_calls_total", `dependency="`+dependency+`"`, `outcome="success"`, `service="productpage"`); n == 0 {
			t.Errorf("%s: no call was counted", dependency)
		}
	}
	req, _ := http.NewRequest(http.MethodGet, shop.internal+"/metrics", nil)
	if lines := strings.Count(shop.browser().do(req).body, "\n"); lines > 1500 {
		t.Errorf("%d lines of metrics, want at most 1500", lines)
	}
}

// Before the catalogue is there, a visitor sees a page of the shop that says so; nothing else is wrong with the process.
func TestStartingIsAPage(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	database := "postgres://nobody@" + strings.TrimPrefix(closed.URL, "http://") + "/none?sslmode=disable"
	shop := launch(t, ourContract(), map[string]string{"DATABASE_URL": database}, "listening")
	b := shop.browser()
	a := b.get("/products/42")
	a.want(t, http.StatusServiceUnavailable, "We are just opening", "Watertight")
	if a.Header.Get("Retry-After") == "" || a.Header.Get("Content-Security-Policy") != wantCSP {
		t.Errorf("headers %v", a.Header)
	}
	b.get("/healthz").want(t, http.StatusOK)
	b.get("/readyz").want(t, http.StatusServiceUnavailable)
}
