package faults

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake answers like Toxiproxy, for what needs a clock that the test can turn. That the answers are Toxiproxy's is what
// real_test.go is for.
type fake struct {
	mu    sync.Mutex
	edges map[string]*Edge
	calls []string                   // "DELETE /proxies/one/toxics/x", changes only
	sick  func(r *http.Request) bool // answers 500
}

func newFake(names ...string) *fake {
	f := &fake{edges: make(map[string]*Edge)}
	for _, n := range names {
		f.edges[n] = &Edge{Name: n, Upstream: n + ":80", Enabled: true}
	}
	return f
}

func (f *fake) client() *Client { return NewClient("http://toxiproxy:8474/", f) }

// RoundTrip makes the fake its own network.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w := httptest.NewRecorder()
	f.serve(w, r)
	return w.Result(), nil
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	}
	if f.sick != nil && f.sick(r) {
		http.Error(w, "sick", http.StatusInternalServerError)
		return
	}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/proxies"), "/") // "", edge, "toxics", name
	if len(path) == 1 {
		json.NewEncoder(w).Encode(f.edges)
		return
	}
	edge := f.edges[path[1]]
	byName := func(name string) int {
		return slices.IndexFunc(edge.Toxics, func(t toxic) bool { return t.Name == name })
	}
	switch {
	case edge == nil:
		http.Error(w, "proxy not found", http.StatusNotFound)
	case len(path) == 2:
		json.NewDecoder(r.Body).Decode(edge)
	case len(path) == 3:
		var t toxic
		json.NewDecoder(r.Body).Decode(&t)
		if byName(t.Name) >= 0 {
			http.Error(w, "toxic already exists", http.StatusConflict)
			return
		}
		edge.Toxics = append(edge.Toxics, t)
	default:
		i := byName(path[3])
		if i < 0 {
			http.Error(w, "toxic not found", http.StatusNotFound)
			return
		}
		edge.Toxics = slices.Delete(edge.Toxics, i, i+1)
		w.WriteHeader(http.StatusNoContent)
	}
}

// whole fails the test unless nothing is broken on any edge.
func (f *fake) whole(t *testing.T) {
	t.Helper()
	for _, e := range f.edges {
		if !e.Enabled || len(e.Toxics) > 0 {
			t.Errorf("still broken: %+v", *e)
		}
	}
}
