package service

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestUnknownAddressIsAProblem(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Get("/products/{id}", ok)
	for _, path := range []string{"/", "/products", "/products/1/2", "/metrics", "/debug/pprof/"} {
		if m := wantProblem(t, s.ask("GET", path), 404, "not-found"); m["request_id"] == nil {
			t.Errorf("%s: no request id", path)
		}
	}
}

func TestWrongMethodNamesTheRightOnes(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Get("/orders/{id}", ok)
	s.Router.Delete("/orders/{id}", ok)
	s.Router.Post("/orders", ok)
	for path, allow := range map[string]string{"/orders/7": "GET, HEAD, DELETE", "/orders": "POST", "/healthz": "GET, HEAD"} {
		w := s.ask("PATCH", path)
		wantProblem(t, w, 405, "method-not-allowed")
		if got := w.Header().Get("Allow"); got != allow {
			t.Errorf("%s: Allow %q, want %q", path, got, allow)
		}
	}
	wantProblem(t, s.ask("BREW", "/orders"), 405, "method-not-allowed")
	if w := s.ask("HEAD", "/orders/7"); w.Code != 200 {
		t.Errorf("HEAD of a GET route: %d", w.Code)
	}
}

func TestBrowsersGetTheErrorPage(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.ErrorPage = func(w http.ResponseWriter, r *http.Request, p *Problem) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(p.Status)
		_, _ = w.Write([]byte("<h1>" + p.Title + "</h1>" + RequestID(r.Context())))
	}
	s.Router.Get("/panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for path, status := range map[string]int{"/nowhere": 404, "/panic": 500} {
		w := s.ask("GET", path, "Accept", browser)
		if w.Code != status || !strings.Contains(w.Body.String(), w.Header().Get(headerRequestID)) || w.Header().Get("Vary") != "Accept" {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
		if w := s.ask("GET", path, "Accept", "application/json"); w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s for a program: %v", path, w.Header())
		}
	}
}

func TestBodyIsLimited(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Post("/orders", Handle(func(w http.ResponseWriter, r *http.Request) error {
		var order struct{ Note string }
		return DecodeJSON(r, &order)
	}))
	send := func(size int, length int64) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/orders", strings.NewReader(`{"Note":"`+strings.Repeat("a", size)+`"}`))
		r.ContentLength = length
		return s.send(r, "Content-Type", "application/json")
	}
	if w := send(1000, -1); w.Code != 200 {
		t.Errorf("small body: %d %s", w.Code, w.Body)
	}
	wantProblem(t, send(int(s.base.MaxBodyBytes), -1), 413, "body-too-large")    // chunked: found while reading
	wantProblem(t, send(int(s.base.MaxBodyBytes), 1<<20), 413, "body-too-large") // announced
}
