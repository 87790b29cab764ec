package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"watertight.example/demo/faults"
	"watertight.example/demo/incident"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a shop, its naive twin, an internal listener and Toxiproxy, and the network between them: a RoundTripper, so that
// everything can be lived in virtual time.
type world struct {
	mu     sync.Mutex
	edges  map[string]*faults.Edge
	sick   string      // an edge on which nothing can be set
	silent atomic.Bool // the internal listener
}

func newWorld() *world {
	w := &world{edges: map[string]*faults.Edge{}}
	for _, p := range places() {
		for _, name := range p.Edges { // the plan is no edge, but nothing is ever set on it here
			w.edges[name] = &faults.Edge{Name: name, Enabled: true}
		}
	}
	return w
}

func (w *world) config() Config {
	return Config{
		Protected: Twin{Twin: incident.Twin{Target: "http://shop", Internal: "http://shop-inside"}, Public: "http://127.0.0.1:18080"},
		Naive:     Twin{Twin: incident.Twin{Target: "http://naive", Internal: "http://shop-inside"}},
		Services:  []Service{{"productpage", "http://shop-inside"}},
		Toxiproxy: "http://toxiproxy", Hosts: []string{"localhost", "127.0.0.1", "::1", "control-room"}, Rate: 4, Product: 42,
		Incident: incident.Times{Baseline: 10 * time.Second, Fault: 30 * time.Second, Recovery: 45 * time.Second},
		OpenFor:  30 * time.Second, Transport: w,
	}
}

func (w *world) room(t *testing.T) *Room {
	t.Helper()
	r, err := New(w.config())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// RoundTrip answers on a goroutine of its own and gives up when the caller does.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	handler := map[string]http.HandlerFunc{"shop": w.shop, "naive": w.naive, "shop-inside": w.inside, "toxiproxy": w.toxiproxy}[req.URL.Host]
	rec, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		handler(rec, req)
	}()
	select {
	case <-done:
		resp := rec.Result()
		resp.Request = req
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (w *world) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.edges {
		if len(e.Toxics) > 0 {
			return true
		}
	}
	return false
}

func (w *world) shop(rw http.ResponseWriter, req *http.Request) {
	time.Sleep(30 * time.Millisecond)
	if w.broken() {
		rw.Header().Set("Degraded", "recommendations")
	}
	page(rw, req)
}

// naive waits as long as what is broken.
func (w *world) naive(rw http.ResponseWriter, req *http.Request) {
	time.Sleep(30 * time.Millisecond)
	if w.broken() && req.URL.Path != "/readyz" {
		select {
		case <-time.After(7 * time.Second):
		case <-req.Context().Done():
		}
	}
	page(rw, req)
}

func page(rw http.ResponseWriter, req *http.Request) {
	if strings.HasPrefix(req.URL.Path, "/static/") {
		rw.Header().Set("Content-Type", "text/css")
		fmt.Fprint(rw, "p{}")
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	id := strings.TrimPrefix(req.URL.Path, "/products/")
	fmt.Fprintf(rw, `<html><link href="/static/shop.css"><form><input name="q"></form><a href="/products/1"><img src="/pictures/%s.svg"></html>`, id)
}

func (w *world) inside(rw http.ResponseWriter, req *http.Request) {
	if w.silent.Load() {
		http.Error(rw, "no", http.StatusServiceUnavailable)
		return
	}
	if req.URL.Path == "/metrics" {
		fmt.Fprint(rw, "# TYPE pgxpool_max_conns gauge\npgxpool_acquired_conns{db=\"catalogue\",service=\"p\"} 3\npgxpool_max_conns{db=\"catalogue\",service=\"p\"} 4\n"+
			"redis_pool_idle_conns{db=\"redis\"} 2\nredis_pool_total_conns{db=\"redis\"} 5\ngo_goroutines 7\n")
		return
	}
	breaker := "closed"
	if w.broken() {
		breaker = "open"
	}
	fmt.Fprintf(rw, `{"service":"productpage","dependencies":[{"name":"recommendations","has_breaker":true,"has_budget":true,"policy":"p",
		"state":{"breaker":%q,"retry_after":12300000000,"in_flight":2,"limit":50,"budget_left":9},"recent":[{"reason":"5 failures in a row"}]}]}`, breaker)
}

// toxiproxy answers like the real one, which package faults is tested against.
func (w *world) toxiproxy(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := strings.Split(strings.TrimPrefix(req.URL.Path, "/proxies"), "/") // "", edge, "toxics", name
	if len(path) == 1 {
		json.NewEncoder(rw).Encode(w.edges)
		return
	}
	edge := w.edges[path[1]]
	switch {
	case edge == nil || path[1] == w.sick:
		http.Error(rw, "sick", http.StatusInternalServerError)
	case len(path) == 2:
		json.NewDecoder(req.Body).Decode(edge)
	case len(path) == 3:
		// The list's own decoder knows the unexported type: one toxic is a list of one.
		var one json.RawMessage
		json.NewDecoder(req.Body).Decode(&one)
		edge.Toxics = nil
		json.Unmarshal([]byte("["+string(one)+"]"), &edge.Toxics)
	default:
		edge.Toxics = nil
		rw.WriteHeader(http.StatusNoContent)
	}
}

// do sends a request to the room's handler as curl would, and decodes the answer into out.
func do(t *testing.T, r *Room, method, path, body string, out any) int {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:18088"+path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	rec := httptest.NewRecorder()
	r.Handler().ServeHTTP(rec, req)
	if out != nil {
		if err := json.Unmarshal(rec.Body.Bytes(), out); err != nil {
			t.Fatalf("%s %s answers %d, not JSON: %v\n%s", method, path, rec.Code, err, rec.Body)
		}
	}
	return rec.Code
}
