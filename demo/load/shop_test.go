package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// inProcess is a network with no network in it: it serves requests by a handler on a goroutine of their own, so that
// runs can live in a synctest bubble. Like a real connection it gives up when the client does.
type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	rec, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		t.handler.ServeHTTP(rec, req)
	}()
	select {
	case <-done:
		return rec.Result(), nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// fakeShop speaks the shop's public routes. Hooks make it sick; each handler takes the time `pace` says.
type fakeShop struct {
	pace     func() time.Duration
	ready    func() bool
	degraded func(path string) string // the Degraded header
	status   func(path string) int    // another status than the right one, or 0
	state    func(w http.ResponseWriter, key string)

	mu       sync.Mutex
	requests []string // "GET /products/42?x=1", in the order of arrival
	posted   []string // keys of posted forms
	cookies  []string // of every request inside a purchase
}

func (s *fakeShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/readyz" {
		if s.ready != nil && !s.ready() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return
	}
	s.note(r)
	if s.pace != nil {
		select {
		case <-time.After(s.pace()):
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if s.degraded != nil {
		if parts := s.degraded(r.URL.Path); parts != "" {
			w.Header().Set("Degraded", parts)
		}
	}
	if s.status != nil {
		if code := s.status(r.URL.Path); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	s.page(w, r)
}

func (s *fakeShop) page(w http.ResponseWriter, r *http.Request) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case first == "":
		fmt.Fprint(w, `<form><input name="q"></form><a href="/products/7">Mug</a></html>`)
	case first == "products":
		fmt.Fprintf(w, `<img src="/pictures/%s.svg"></html>`, rest)
	case first == "orders":
		fmt.Fprintf(w, `order %s</html>`, rest)
	case r.Method == http.MethodPost:
		http.Redirect(w, r, "/checkout/"+r.PostFormValue("key"), http.StatusSeeOther)
	case rest == "" && r.FormValue("key") == "":
		http.SetCookie(w, &http.Cookie{Name: "customer", Value: "c1"})
		http.Redirect(w, r, "/checkout?key=key-of-"+r.FormValue("sku"), http.StatusSeeOther)
	case rest == "":
		fmt.Fprintf(w, `<form method="post" action="/checkout"><input type="hidden" name="key" value="%s"></form></html>`, r.FormValue("key"))
	case s.state != nil:
		s.state(w, rest)
	default:
		http.Redirect(w, r, "/orders/order-of-"+rest, http.StatusSeeOther)
	}
}

func (s *fakeShop) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	if r.Method == http.MethodPost {
		s.posted = append(s.posted, r.PostFormValue("key"))
	}
	if r.Method == http.MethodPost || strings.HasPrefix(r.URL.Path, "/checkout/") || strings.HasPrefix(r.URL.Path, "/orders/") {
		s.cookies = append(s.cookies, r.Header.Get("Cookie"))
	}
}

func (s *fakeShop) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// gently is a run of 10 requests a second for 10 s against shop, to be changed by the test.
func gently(t *testing.T, shop http.Handler) Config {
	t.Helper()
	return Config{
		Target: "http://shop", Rate: 10, Duration: 10 * time.Second, Timeout: 2 * time.Second,
		Mix: DefaultMix(), Seed: 1, Transport: inProcess{shop},
	}
}

func mustRun(t *testing.T, cfg Config) Summary {
	t.Helper()
	s, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
