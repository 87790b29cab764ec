package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"watertight.example/demo/faults"
)

// What is broken is 1, everything else that could be is 0, and of a Toxiproxy that does not answer nothing is said.
func TestGaugeShowsWhatIsBroken(t *testing.T) {
	down := false
	toxiproxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down {
			http.Error(w, "", http.StatusBadGateway)
			return
		}
		io.WriteString(w, `{"a":{"name":"a","upstream":"a:1","enabled":true,"toxics":[{"name":"latency-4102444800","type":"latency","stream":"downstream","attributes":{"latency":100}}]},
			"b":{"name":"b","upstream":"b:1","enabled":false,"toxics":[]}}`)
	}))
	defer toxiproxy.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(newGauge(faults.NewClient(toxiproxy.URL, nil), nil))
	page := func() string {
		w := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), "GET", "/metrics", nil))
		return w.Body.String()
	}
	text := page()
	for _, line := range []string{`kind="latency",target="a"} 1`, `kind="hang",target="a"} 0`, `kind="refuse",target="b"} 1`, `kind="latency",target="b"} 0`} {
		if !strings.Contains(text, "chaos_fault_active{"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	if n := strings.Count(text, "\nchaos_fault_active{"); n != 2*len(faults.Kinds()) {
		t.Errorf("%d series", n)
	}
	down = true
	if text := page(); strings.Contains(text, "\nchaos_fault_active{") {
		t.Errorf("a Toxiproxy that is away: %s", text)
	}
}
