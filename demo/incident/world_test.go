package incident

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// world is a shop, its naive twin and Toxiproxy, and the network between them: a RoundTripper, so that a whole incident can
// be lived in virtual time. The protected page behaves as its promises say, unless a test makes it worse.
type world struct {
	mu       sync.Mutex
	toxics   []map[string]any
	attempts int       // calls to recommendations that left the protected page
	halfOpen int       // periods
	closed   int       // how often the breaker has closed
	opened   time.Time // when its breaker opened; zero: closed
	changes  int       // of toxics

	naivePace  time.Duration // of everything the naive page does while its database is slow
	stray      int           // calls that an open breaker lets through, each time it is asked
	unmarked   bool          // the protected page does not say what it lacks
	down       map[string]bool
	atOnset    func() // called once, when the fault is set
	edgeStolen bool   // somebody mends behind the incident's back
	lost       bool   // recommendations are, by other means than a toxic
}

func newWorld() *world { return &world{naivePace: 7 * time.Second, down: map[string]bool{}} }

const openFor = 30 * time.Second

func (w *world) config() Config {
	return Config{
		Protected: Twin{"http://shop", "http://shop-internal"}, Naive: &Twin{Target: "http://naive"},
		Rate: 25, Toxiproxy: "http://toxiproxy", OpenFor: openFor, Terminal: io.Discard, Transport: w,
	}
}

// RoundTrip answers on a goroutine of its own and gives up when the caller does.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.down[req.URL.Host] {
		return nil, fmt.Errorf("connection refused")
	}
	handler := map[string]http.HandlerFunc{
		"shop": w.protected, "naive": w.naive, "shop-internal": w.internals, "toxiproxy": w.toxiproxy,
	}[req.URL.Host]
	rec, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		handler(rec, req)
	}()
	select {
	case <-done:
		return rec.Result(), nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (w *world) sick() bool { return (len(w.toxics) > 0 || w.lost) && !w.edgeStolen }

// lose takes recommendations away by other means than Toxiproxy's, or gives them back.
func (w *world) lose(lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = lost
}

// protected is a page with a breaker: 500 ms of waiting for 100 ms each, then none but a probe per open period.
func (w *world) protected(rw http.ResponseWriter, req *http.Request) {
	pace, missing := 30*time.Millisecond, false
	if strings.HasPrefix(req.URL.Path, "/products/") {
		pace, missing = w.recommend()
	}
	time.Sleep(pace)
	if missing && !w.unmarked {
		rw.Header().Set("Degraded", "recommendations")
	}
	page(rw, req)
}

func (w *world) recommend() (pace time.Duration, missing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	probe := !w.opened.IsZero()
	if probe && time.Since(w.opened) < openFor {
		w.attempts += w.stray
		return 20 * time.Millisecond, true
	}
	w.attempts++
	if probe {
		w.halfOpen++
	}
	switch {
	case w.sick() && (probe || w.attempts%10 == 0):
		w.opened = time.Now()
	case !w.sick() && probe:
		w.opened = time.Time{}
		w.closed++
	}
	if w.sick() {
		return 120 * time.Millisecond, true
	}
	return 30 * time.Millisecond, false
}

// naive waits for the database as long as it takes.
func (w *world) naive(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	pace := 30 * time.Millisecond
	if w.sick() && req.URL.Path != "/readyz" {
		pace = w.naivePace
	}
	w.mu.Unlock()
	select {
	case <-time.After(pace):
	case <-req.Context().Done():
		return
	}
	page(rw, req)
}

// page is enough of a shop for the load to buy in it.
func page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case first == "":
		fmt.Fprint(w, `<input name="q"><a href="/products/7">Mug</a></html>`)
	case first == "products":
		fmt.Fprintf(w, `<img src="/pictures/%s.svg"></html>`, rest)
	case first == "orders":
		fmt.Fprintf(w, `order %s</html>`, rest)
	case first == "checkout" && r.Method == http.MethodPost:
		http.Redirect(w, r, "/checkout/k", http.StatusSeeOther)
	case first == "checkout" && rest != "":
		http.Redirect(w, r, "/orders/o", http.StatusSeeOther)
	case first == "checkout" && r.FormValue("key") == "":
		http.Redirect(w, r, "/checkout?key=k", http.StatusSeeOther)
	case first == "checkout":
		fmt.Fprint(w, `<form method="post" action="/checkout"><input name="key" value="k"></form></html>`)
	}
}

func (w *world) internals(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	breaker := "closed"
	if !w.opened.IsZero() {
		if breaker = "open"; time.Since(w.opened) >= openFor {
			breaker = "half_open"
		}
	}
	if r.URL.Path == "/resilience" {
		fmt.Fprintf(rw, `{"service":"productpage","dependencies":[{"name":"pricing","state":{"breaker":"closed"}},
			{"name":"recommendations","state":{"breaker":%q,"in_flight":3,"limit":50},"policy":"..."}]}`, breaker)
		return
	}
	fmt.Fprintf(rw, "# HELP go_goroutines x\ngo_goroutines{service=\"productpage\"} 80\n")
	fmt.Fprintf(rw, "dependency_attempt_duration_seconds_count{dependency=\"recommendations\"} %d\n", w.attempts)
	fmt.Fprintf(rw, "circuit_breaker_state_changes_total{dependency=\"recommendations\",to_state=\"half_open\"} %d\n", w.halfOpen)
	fmt.Fprintf(rw, "circuit_breaker_state_changes_total{dependency=\"recommendations\",to_state=\"closed\"} %d\n", w.closed)
	calls := time.Now().UnixMilli() / 40
	for _, dependency := range []string{"pricing", "inventory"} {
		for _, le := range []string{"0.01", "0.025", "+Inf"} {
			fmt.Fprintf(rw, "dependency_call_duration_seconds_bucket{dependency=%q,le=%q,outcome=\"success\"} %d\n", dependency, le, calls)
		}
	}
}

func (w *world) toxiproxy(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Method {
	case http.MethodPost:
		var toxic map[string]any
		json.NewDecoder(r.Body).Decode(&toxic)
		w.toxics = append(w.toxics, toxic)
		w.changes++
		if w.atOnset != nil {
			w.atOnset()
		}
	case http.MethodDelete:
		w.toxics = nil
	default:
		toxics := w.toxics
		if w.edgeStolen {
			toxics = nil
		}
		json.NewEncoder(rw).Encode(map[string]any{"recommendations-postgres": map[string]any{
			"name": "recommendations-postgres", "upstream": "db:5432", "enabled": true, "toxics": toxics}})
	}
}

// whole fails the test unless the incident has mended what it broke.
func (w *world) whole(t *testing.T) {
	t.Helper()
	if len(w.toxics) > 0 {
		t.Errorf("still broken: %v", w.toxics)
	}
}
