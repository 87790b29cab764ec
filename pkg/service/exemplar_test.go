package service

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const testTrace = "0af7651916cd43dd8448eb211c80319c"

// scrapeAs asks for the metrics in the format that Prometheus asks for.
func (s *Service) scrapeAs(accept string) string {
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	s.metricsHandler().ServeHTTP(w, r)
	return w.Body.String()
}

func TestSlowAndDegradedRequestsLeaveTheirTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		s.Router.Get("/usual", ok)
		s.Router.Get("/slow", func(http.ResponseWriter, *http.Request) { time.Sleep(s.base.RequestTimeout/4 + time.Millisecond) })
		s.Router.Get("/degraded", func(_ http.ResponseWriter, r *http.Request) { s.Degraded(r, "stale", "stock") })
		for route, want := range map[string]bool{"/usual": false, "/slow": true, "/degraded": true} {
			s.ask("GET", route, "Traceparent", "00-"+testTrace+"-b7ad6b7169203331-01")
			lines := grep(s.scrapeAs("application/openmetrics-text; version=1.0.0"), `route="`+route+`"`)
			if got := strings.Contains(lines, `# {trace_id="`+testTrace+`"}`); got != want {
				t.Errorf("%s has an exemplar: %t, want %t\n%s", route, got, want, lines)
			}
		}
	})
}

func TestOnlyOpenMetricsWritesWholeEdgesAsFloats(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Get("/", ok)
	s.ask("GET", "/")
	for accept, edges := range map[string][]string{
		"application/openmetrics-text; version=1.0.0": {`le="0.75"`, `le="1.0"`},
		"text/plain; version=0.0.4":                   {`le="0.75"`, `le="1"`},
	} {
		for _, edge := range edges {
			if !strings.Contains(s.scrapeAs(accept), edge) {
				t.Errorf("%s has no %s", accept, edge)
			}
		}
	}
}
