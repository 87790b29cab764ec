package service

import (
	"net/http"
	"strings"
	"testing"
)

func TestPanicIsAnAnswerAMetricAndALogLine(t *testing.T) {
	s, log := newTestService(t, Program{})
	s.Router.Get("/products/{id}", func(http.ResponseWriter, *http.Request) { panic("secret detail") })
	w := s.ask("GET", "/products/1")
	wantProblem(t, w, 500, "internal")
	if strings.Contains(w.Body.String(), "secret detail") {
		t.Errorf("the client sees %s", w.Body)
	}
	metrics := s.scrape()
	wantLine(t, metrics, `http_server_panics_total{route="/products/{id}",service="test"} 1`)
	wantLine(t, metrics, `http_server_request_duration_seconds_count{code="500",method="GET",route="/products/{id}",service="test"} 1`)
	lines := log.lines("panic")
	if len(lines) != 1 || lines[0]["value"] != "secret detail" || !strings.Contains(lines[0]["stack"].(string), "recover_test.go") || lines[0]["request_id"] == nil {
		t.Errorf("log: %v", lines)
	}
}

func TestAbortIsPassedOn(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		panics  string
	}{
		"asked for":                  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "0"},
		"panic after half an answer": {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("half")); panic("boom") }, "1"},
		"error after half an answer": {Handle(func(w http.ResponseWriter, _ *http.Request) error {
			w.Write([]byte("half"))
			return NewProblem(500, "internal", "")
		}), "0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newTestService(t, Program{})
			s.Router.Get("/", c.handler)
			defer func() {
				if v := recover(); v != http.ErrAbortHandler {
					t.Errorf("panic %v; net/http cuts the connection only for ErrAbortHandler", v)
				}
				metrics := s.scrape()
				wantLine(t, metrics, `http_server_active_requests{service="test"} 0`)
				if c.panics == "1" {
					wantLine(t, metrics, `http_server_panics_total{route="/",service="test"} 1`)
				} else if strings.Contains(metrics, "http_server_panics_total{") {
					t.Error("counted as a panic")
				}
			}()
			s.ask("GET", "/")
		})
	}
}
