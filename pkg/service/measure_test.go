package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestsAreMeasuredByRouteTemplate(t *testing.T) {
	s, _ := newTestService(t, Program{Name: "shop"})
	s.Router.Get("/products/{id}", ok)
	s.Router.Post("/orders", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) })
	s.Router.Get("/silent", func(http.ResponseWriter, *http.Request) {})
	for i := range 1000 { // as an attacker would
		s.ask("GET", fmt.Sprint("/products/", i))
		s.ask("GET", fmt.Sprint("/random/", i))
		s.ask(fmt.Sprint("BREW", i), "/orders")
	}
	s.ask("POST", "/orders")
	s.ask("DELETE", "/orders")
	s.ask("HEAD", "/products/1")
	s.ask("GET", "/silent")
	metrics := s.scrape()
	for _, c := range []struct{ method, route, code, count string }{
		{"GET", "/products/{id}", "200", "1000"}, {"GET", "unmatched", "404", "1000"}, {"_OTHER", "unmatched", "405", "1000"},
		{"POST", "/orders", "201", "1"}, {"DELETE", "unmatched", "405", "1"}, {"HEAD", "/products/{id}", "200", "1"}, {"GET", "/silent", "200", "1"},
	} {
		wantLine(t, metrics, fmt.Sprintf(`http_server_request_duration_seconds_count{code="%s",method="%s",route="%s",service="shop"} %s`, c.code, c.method, c.route, c.count))
	}
	wantLine(t, metrics, `http_server_active_requests{service="shop"} 0`)
	if n := strings.Count(metrics, "\n"); n > 400 {
		t.Errorf("%d lines of metrics for 7 kinds of request", n)
	}
}

func TestFailuresHaveTheirSeriesFromTheStart(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Get("/products/{id}", ok)
	s.Router.Get("/pictures/{id}", ok)
	s.NothingBehind("/pictures/{id}")
	if err := s.http.prepare(s.root); err != nil {
		t.Fatal(err)
	}
	metrics := s.scrape()
	wantLine(t, metrics, `http_server_panics_total{route="/products/{id}",service="test"} 0`)
	wantLine(t, metrics, `http_server_request_duration_seconds_count{code="500",method="GET",route="/products/{id}",service="test"} 0`)
	wantLine(t, metrics, `http_server_request_duration_seconds_count{code="503",method="GET",route="/products/{id}",service="test"} 0`)
	if early := grep(metrics, `code=`); strings.Contains(early, "/pictures/") || strings.Contains(early, "/readyz") {
		t.Errorf("a route with nothing behind it has failures from the start:\n%s", early)
	}
	wantLine(t, metrics, `build_info{`)
	wantLine(t, metrics, `go_goroutines{service="test"}`)
}

func TestClientThatLeavesIsNoError(t *testing.T) {
	s, log := newTestService(t, Program{})
	s.Router.Get("/", Handle(func(_ http.ResponseWriter, r *http.Request) error {
		return NewProblem(503, "dependency-unavailable", "").Wrap(r.Context().Err())
	}))
	ctx, leave := context.WithCancel(t.Context())
	leave()
	s.send(httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	wantLine(t, s.scrape(), `http_server_request_duration_seconds_count{code="499",method="GET",route="/",service="test"} 1`)
	if level := log.lines("request")[0]["level"]; level != "DEBUG" {
		t.Errorf("logged at %v", level)
	}
}

func TestLogShowsTheRequestsSomebodyWillAskAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newTestService(t, Program{})
		s.Router.Get("/fast", ok)
		s.Router.Get("/slow", func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) })
		s.Router.Get("/bad", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
		s.Ready("never", func(context.Context) error { return errors.New("no") })
		for _, path := range []string{"/fast", "/slow", "/bad", "/readyz"} {
			s.ask("GET", path, headerRequestID, "id-of"+strings.ReplaceAll(path, "/", "-"))
		}
		lines := log.lines("request")
		for i, want := range []string{"DEBUG", "INFO", "WARN", "DEBUG"} {
			if lines[i]["level"] != want || lines[i]["trace_id"] == nil || lines[i]["service"] != "test" {
				t.Errorf("%v, want level %s", lines[i], want)
			}
		}
		if lines[1]["request_id"] != "id-of-slow" || lines[1]["ms"] != 1000.0 {
			t.Errorf("slow request: %v", lines[1])
		}
	})
}
