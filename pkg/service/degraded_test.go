package service

import (
	"net/http"
	"testing"
)

func TestDegradedAnswersAreCountedAndLogged(t *testing.T) {
	s, log := newTestService(t, Program{})
	s.CanDegrade("/products/{id}", "stale", "fallback_empty")
	s.Router.Get("/products/{id}", func(_ http.ResponseWriter, r *http.Request) { s.Degraded(r, "stale", "stock", "price") })
	s.ask("GET", "/products/7")
	metrics := s.scrape()
	wantLine(t, metrics, `degraded_responses_total{reason="stale",route="/products/{id}",service="test"} 1`)
	wantLine(t, metrics, `degraded_responses_total{reason="fallback_empty",route="/products/{id}",service="test"} 0`)
	if lines := log.lines("degraded answer"); len(lines) != 1 || lines[0]["request_id"] == nil || lines[0]["reason"] != "stale" {
		t.Errorf("log: %v", lines)
	}
}
