package main

import (
	"encoding/json"
	"fmt"
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
	a := &api{store: s, window: &window{db: s.db, replica: unhurried(t, "postgres-replica", replicaPolicy()), primary: s}, metrics: newMetrics(prometheus.NewRegistry())}
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

// Nonsense is refused with a 4xx problem, and nothing is written.
func TestBadInput(t *testing.T) {
	server, a := newAPI(t)
	good := uuid.NewString()
	post := func(path, body string) [3]string { return [3]string{"POST", path, body} }
	line := func(sku, quantity string) [3]string {
		return post("/reservations/"+good, fmt.Sprintf(`{"lines":[{"sku":%s,"quantity":%s}]}`, sku, quantity))
	}
	manyLines := make([]string, 21)
	for i := range manyLines {
		manyLines[i] = fmt.Sprintf(`{"sku":%d,"quantity":1}`, i+1)
	}
	for name, c := range map[string][3]string{
		"quantity 0":           line("1", "0"),
		"quantity negative":    line("1", "-1"),
		"quantity 100":         line("1", "100"),
		"quantity huge":        line("1", "99999999999999999999"),
		"quantity overflow":    line("1", "4294967297"),
		"quantity fractional":  line("1", "1.5"),
		"quantity as 1.0":      line("1", "1.0"),
		"quantity exponent":    line("1", "1e1"),
		"quantity text":        line("1", `"1"`),
		"quantity null":        line("1", "null"),
		"quantity true":        line("1", "true"),
		"sku 0":                line("0", "1"),
		"sku negative":         line("-1", "1"),
		"sku huge":             line("2147483648", "1"),
		"sku text":             line(`"1"`, "1"),
		"sku list":             line("[1]", "1"),
		"sku twice":            post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1},{"sku":2,"quantity":1},{"sku":1,"quantity":2}]}`),
		"no lines":             post("/reservations/"+good, `{"lines":[]}`),
		"lines missing":        post("/reservations/"+good, `{}`),
		"lines null":           post("/reservations/"+good, `{"lines":null}`),
		"lines object":         post("/reservations/"+good, `{"lines":{"sku":1,"quantity":1}}`),
		"quantity missing":     post("/reservations/"+good, `{"lines":[{"sku":1}]}`),
		"sku missing":          post("/reservations/"+good, `{"lines":[{"quantity":1}]}`),
		"too many lines":       post("/reservations/"+good, `{"lines":[`+strings.Join(manyLines, ",")+`]}`),
		"unknown field":        post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1}],"hold":"forever"}`),
		"unknown field inside": post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1,"price":0}]}`),
		"trailing data":        post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1}]}{}`),
		"cut off":              post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1}`),
		"empty body":           post("/reservations/"+good, ``),
		"body is a list":       post("/reservations/"+good, `[]`),
		"body is null":         post("/reservations/"+good, `null`),
		"not JSON":             post("/reservations/"+good, `lines=1`),
		"id no uuid":           post("/reservations/42", `{"lines":[{"sku":1,"quantity":1}]}`),
		"id too short":         post("/reservations/"+good[:35], `{"lines":[{"sku":1,"quantity":1}]}`),
		"id without dashes":    post("/reservations/"+strings.ReplaceAll(good, "-", ""), `{"lines":[{"sku":1,"quantity":1}]}`),
		"id in braces":         post("/reservations/%7B"+good+"%7D", `{"lines":[{"sku":1,"quantity":1}]}`),
		"id as urn":            post("/reservations/urn:uuid:"+good, `{"lines":[{"sku":1,"quantity":1}]}`),
		"id with SQL":          post("/reservations/'%20OR%201=1--", `{"lines":[{"sku":1,"quantity":1}]}`),
		"id dots":              post("/reservations/%2e%2e%2fstock", `{"lines":[{"sku":1,"quantity":1}]}`),
		"commit no uuid":       post("/reservations/42/commit", ``),
		"release no uuid":      post("/reservations/42/release", ``),
		"get no uuid":          {"GET", "/reservations/42", ""},
		"stock of nothing":     {"GET", "/stock", ""},
		"stock sku empty":      {"GET", "/stock?sku=", ""},
		"stock sku text":       {"GET", "/stock?sku=one", ""},
		"stock sku 0":          {"GET", "/stock?sku=0", ""},
		"stock sku negative":   {"GET", "/stock?sku=-1", ""},
		"stock sku fractional": {"GET", "/stock?sku=1.5", ""},
		"stock sku huge":       {"GET", "/stock?sku=2147483648", ""},
		"stock sku list":       {"GET", "/stock?sku=1,2", ""},
		"stock too many":       {"GET", "/stock?sku=1" + strings.Repeat("&sku=2", 50), ""},
		"stock fresh maybe":    {"GET", "/stock?sku=1&fresh=maybe", ""},
		"stock fresh twice":    {"GET", "/stock?sku=1&fresh=1&fresh=1", ""},
	} {
		status, answer := call(t, server, c[0], c[1], c[2])
		if status < 400 || status > 499 || !strings.HasPrefix(fmt.Sprint(answer["type"]), "/problems/") {
			t.Errorf("%s: %d %v, want a 4xx problem", name, status, answer)
		}
	}
	if n := a.store.number(t, `SELECT count(*) FROM reservations`); n != 0 {
		t.Errorf("%d reservations written", n)
	}
	if n := a.store.number(t, `SELECT count(*) FROM movements WHERE kind <> 'receipt'`); n != 0 {
		t.Errorf("%d movements written", n)
	}
	a.store.mustBalance(t)
}

func TestBodyMustBeJSON(t *testing.T) {
	server, a := newAPI(t)
	resp, err := server.Client().Post(server.URL+"/reservations/"+uuid.NewString(), "text/plain", strings.NewReader(`{"lines":[{"sku":1,"quantity":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("%d, want 415", resp.StatusCode)
	}
	if n := a.store.number(t, `SELECT count(*) FROM reservations`); n != 0 {
		t.Errorf("%d reservations written", n)
	}
}
