package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// newAPI serves the routes on a database of its own; the replica is the primary.
func newAPI(t *testing.T) (*httptest.Server, *api) {
	t.Helper()
	s, _ := newStore(t)
	a := &api{store: s, window: s.window(t, s.db), metrics: newMetrics(prometheus.NewRegistry())}
	r := chi.NewRouter()
	routes(r, a)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return server, a
}

// call sends one request and returns status and decoded answer; its media type must fit its status.
func call(t *testing.T, server *httptest.Server, method, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := "application/json"
	if resp.StatusCode >= 400 {
		want = "application/problem+json"
	}
	if got := resp.Header.Get("Content-Type"); got != want {
		t.Errorf("%s %s: %d as %q, want %q", method, path, resp.StatusCode, got, want)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s %s: %d %s: %v", method, path, resp.StatusCode, text, err)
	}
	return resp.StatusCode, answer
}

func TestReservationLife(t *testing.T) {
	server, a := newAPI(t)
	a.store.stockOf(t, 7, 5)
	first, second, never := "/reservations/"+uuid.NewString(), "/reservations/"+uuid.NewString(), "/reservations/"+uuid.NewString()
	lines := `{"lines":[{"sku":42,"quantity":1},{"sku":7,"quantity":2}]}`
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string // the state, or the problem's type
	}{
		{"POST", first, lines, 201, "held"},
		{"POST", first, lines, 200, "held"},
		{"POST", first, `{"lines":[{"sku":7,"quantity":2},{"sku":42,"quantity":1}]}`, 200, "held"}, // lines have no order
		{"POST", first, `{"lines":[{"sku":7,"quantity":2}]}`, 422, "/problems/reservation-mismatch"},
		{"GET", first, "", 200, "held"},
		{"POST", first + "/commit", "", 200, "committed"},
		{"POST", first + "/commit", "", 200, "committed"},
		{"POST", first + "/release", "", 422, "/problems/reservation-committed"},
		{"POST", first, lines, 200, "committed"},

		{"POST", second, `{"lines":[{"sku":7,"quantity":4}]}`, 422, "/problems/insufficient-stock"},
		{"POST", second, `{"lines":[{"sku":2001,"quantity":4}]}`, 422, "/problems/unknown-sku"},
		{"GET", second, "", 404, "/problems/reservation-not-found"},
		{"POST", second, `{"lines":[{"sku":7,"quantity":3}]}`, 201, "held"},
		{"POST", second + "/release", "", 200, "released"},
		{"POST", second + "/release", "", 200, "released"},
		{"POST", second + "/commit", "", 422, "/problems/reservation-released"},
		{"POST", second, `{"lines":[{"sku":7,"quantity":3}]}`, 422, "/problems/reservation-released"},

		{"POST", never + "/commit", "", 404, "/problems/reservation-not-found"},
		{"POST", never + "/release", "", 200, "released"},
		{"POST", never, lines, 422, "/problems/reservation-released"},
	} {
		status, answer := call(t, server, step.method, step.path, step.body)
		got := answer["state"]
		if status >= 400 {
			got = answer["type"]
		}
		if status != step.status || got != step.want {
			t.Fatalf("%s %s %s: %d %v, want %d %s", step.method, step.path, step.body, status, answer, step.status, step.want)
		}
	}
	if got := a.store.counters(t, 7); got != (counters{3, 0}) {
		t.Errorf("counters %+v, want 3 on hand", got)
	}
	a.store.mustBalance(t)
	for result, want := range map[string]float64{"moved": 2, "replayed": 3, "short": 1, "refused": 4, "failed": 0} {
		if got := testutil.ToFloat64(a.metrics.reservations.WithLabelValues("reserve", result)); got != want {
			t.Errorf("%s counted %v times, want %v", result, got, want)
		}
	}
}

func TestReservationAnswers(t *testing.T) {
	server, a := newAPI(t)
	a.store.stockOf(t, 7, 5)
	id := uuid.NewString()
	_, held := call(t, server, "POST", "/reservations/"+id, `{"lines":[{"sku":42,"quantity":1},{"sku":7,"quantity":2}]}`)
	wantLines := []any{map[string]any{"sku": 7.0, "quantity": 2.0}, map[string]any{"sku": 42.0, "quantity": 1.0}}
	if held["order_id"] != id || !reflect.DeepEqual(held["lines"], wantLines) || held["expires_at"] == nil || len(held) != 4 {
		t.Errorf("held: %v", held)
	}
	_, short := call(t, server, "POST", "/reservations/"+uuid.NewString(), `{"lines":[{"sku":7,"quantity":4},{"sku":97,"quantity":1},{"sku":1,"quantity":1}]}`)
	want := []any{map[string]any{"sku": 7.0, "requested": 4.0, "available": 3.0}, map[string]any{"sku": 97.0, "requested": 1.0, "available": 0.0}}
	if !reflect.DeepEqual(short["short"], want) {
		t.Errorf("short: %v, want %v", short["short"], want)
	}
	_, stock := call(t, server, "GET", "/stock?sku=7&sku=9999&sku=97&sku=7", "")
	if !reflect.DeepEqual(stock["stock"], []any{map[string]any{"sku": 7.0, "available": 3.0}, map[string]any{"sku": 97.0, "available": 0.0}}) ||
		!reflect.DeepEqual(stock["unknown"], []any{9999.0}) || stock["as_of"] == nil {
		t.Errorf("stock: %v", stock)
	}
	if status, fresh := call(t, server, "GET", "/stock?sku=7&fresh=1", ""); status != 200 || !reflect.DeepEqual(fresh["unknown"], []any{}) {
		t.Errorf("fresh: %d %v", status, fresh)
	}
}
