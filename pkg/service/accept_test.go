package service

import (
	"net/http/httptest"
	"testing"
)

func TestPrefersHTML(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/plain": false, "garbage;;;": false, "text/html;q=x": false, "text/html;q=0": false,
		"text/html": true, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": true, "TEXT/HTML; charset=utf-8": true,
		"application/json, text/html;q=0.5": false, "text/html;q=0.9, application/json;q=0.1": true, "application/problem+json, text/html": true,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		if got := PrefersHTML(r); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}
