//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const someID = "6f2d6a52-8f9b-4a57-9d3b-0f3f6c1d2e4a" // a well-formed id that nothing has

// hostile is one request that a service must refuse with a 4xx problem.
type hostile struct {
	service, method, path, body string
	header                      http.Header
	status                      int // 0 = any 4xx
}

// TestBadInputIsRefusedAndNothingIsWritten sends wrong types, huge bodies, bad
// keys, unknown ids, hostile headers and path tricks to every endpoint. Each
// must be a 4xx problem, and the databases must look afterwards as before.
func TestBadInputIsRefusedAndNothingIsWritten(t *testing.T) {
	s := stack(t)
	before := s.rowCounts(t)
	for _, h := range badRequests() {
		t.Run(fmt.Sprintf("%s %s %.40s %.40s", h.service, h.method, h.path, h.body), func(t *testing.T) {
			refuse(t, s, h)
		})
	}
	if after := s.rowCounts(t); after != before {
		t.Errorf("refused requests wrote something:\nbefore %+v\nafter  %+v", before, after)
	}
}

func badRequests() []hostile {
	var all []hostile
	add := func(service, method, path string, bodies ...string) {
		for _, body := range bodies {
			all = append(all, hostile{service: service, method: method, path: path, body: body})
		}
	}
	for _, id := range []string{"0", "-1", "abc", "1e3", "99999999999999999999", "%2e%2e%2fadmin", "1%00", "2001"} {
		add("productpage", "GET", "/products/"+id, "")
		add("recommendations", "GET", "/products/"+id+"/bought-together", "")
	}
	for _, query := range []string{"", "?sku=", "?sku=abc", "?sku=-1", "?sku=0", "?sku=1.5", "?sku=99999999999999999999", "?" + strings.Repeat("sku=1&", 60)} {
		add("inventory", "GET", "/stock"+query, "")
		add("pricing", "GET", "/prices"+query, "")
	}
	lines := []string{``, `null`, `[]`, `{`, `{"lines":null}`, `{"lines":[]}`, `{"lines":[{"sku":"1","quantity":1}]}`, `{"lines":[{"sku":1,"quantity":0}]}`,
		`{"lines":[{"sku":1,"quantity":-1}]}`, `{"lines":[{"sku":1,"quantity":1.5}]}`, `{"lines":[{"sku":1,"quantity":100000000000}]}`,
		`{"lines":[{"sku":1,"quantity":1},{"sku":1,"quantity":1}]}`, `{"lines":[{"sku":1,"quantity":1}],"extra":1}`, `{"lines":[{"sku":1,"quantity":1}]} {}`,
		`{"lines":[{"sku":1,"quantity":1}],"lines":[{"sku":2,"quantity":1}]}`, `{"lines":[{"sku":999999,"quantity":1}]}`,
		`{"lines":[` + strings.Repeat(`{"sku":1,"quantity":1},`, 50000) + `{"sku":1,"quantity":1}]}`, strings.Repeat("x", 3<<20)}
	add("pricing", "POST", "/quotes", lines...)
	add("inventory", "POST", "/reservations/"+someID, lines...)
	add("inventory", "POST", "/reservations/not-an-id", `{"lines":[{"sku":1,"quantity":1}]}`)
	add("inventory", "POST", "/reservations/%2e%2e/commit", "")
	add("inventory", "POST", "/reservations/"+someID+"/commit", "")
	add("inventory", "GET", "/reservations/"+someID, "")
	add("pricing", "GET", "/quotes/"+someID, "")
	add("pricing", "GET", "/quotes/nonsense", "")
	add("recommendations", "GET", "/products/1/bought-together?limit=0", "")
	add("recommendations", "GET", "/products/1/bought-together?limit=999", "")
	add("recommendations", "GET", "/purchases/"+someID, "")
	add("recommendations", "GET", "/purchases/nonsense", "")
	add("recommendations", "GET", "/best-sellers?limit=0", "")
	add("recommendations", "GET", "/best-sellers?limit=many", "")
	add("inventory", "GET", "/stock?sku=1&fresh=maybe", "")
	add("inventory", "POST", "/reservations/not-an-id/release", "")
	add("orders", "POST", "/resolve/not-an-id", "")
	add("orders", "POST", "/orders/not-an-id/cancel", "")
	add("orders", "POST", "/orders/"+someID+"/cancel", "") // no customer
	add("inventory", "POST", "/restocks/not-an-id", `{"order_id":"`+someID+`"}`)
	add("inventory", "POST", "/restocks/"+someID, `null`, `{"order_id":"x"}`, `{"order_id":"`+someID+`"}`, strings.Repeat("x", 3<<20))
	// Two unknown ids are answered 200 and write a tombstone, on purpose: POST /reservations/{id}/release and POST
	// /resolve/{id} must be able to end what has not arrived yet.
	add("orders", "GET", "/orders/"+someID, "") // no customer
	add("orders", "GET", "/checkouts/a-good-key-000000000", "")
	for _, body := range lines {
		add("recommendations", "POST", "/purchases", body)
	}
	add("recommendations", "POST", "/purchases", `{"event_id":"x","order_id":"`+someID+`","lines":[{"sku":1,"quantity":1}],"occurred_at":"2026-01-01T00:00:00Z"}`)
	all = append(all, badOrders()...)
	add("productpage", "GET", "/?page=-1", "")
	add("productpage", "GET", "/checkout?sku=abc&qty=1", "")
	add("productpage", "GET", "/checkout?sku=1&qty=0", "")
	add("productpage", "GET", "/checkout?sku=1&qty=1000000", "")
	add("productpage", "GET", "/checkout/short", "")
	add("productpage", "GET", "/orders/"+someID, "")
	add("productpage", "GET", "/orders/nonsense", "")
	add("productpage", "GET", "/pictures/../../etc/passwd", "")
	add("productpage", "GET", "/pictures/999999.svg", "")
	add("productpage", "GET", "/static/..%2f..%2fmain.go", "")
	return all
}

// badOrders are the ways to misuse POST /orders; each has a customer and, where
// it is not the point, a good key.
func badOrders() []hostile {
	good := `{"quote_id":"` + someID + `","lines":[{"sku":1,"quantity":1}]}`
	order := func(status int, body string, header ...string) hostile {
		h := http.Header{"X-Customer-Id": {"e2e-bad-input"}}
		for i := 0; i < len(header); i += 2 {
			h.Add(header[i], header[i+1])
		}
		return hostile{service: "orders", method: "POST", path: "/orders", body: body, header: h, status: status}
	}
	const key = "Idempotency-Key"
	foreign := hostile{service: "orders", method: "GET", path: "/orders/" + someID, header: http.Header{"X-Customer-Id": {"nobody"}}, status: 404}
	return []hostile{
		order(400, good),
		order(400, good, key, ""),
		order(400, good, key, "short"),
		order(400, good, key, strings.Repeat("k", 256)),
		order(400, good, key, "sixteen-chars-\xc3\xa9\xc3\xa9\xc3\xa9"),
		order(400, good, key, "a-good-key-000000001", key, "a-good-key-000000002"),
		order(0, `{"quote_id":"x","lines":[{"sku":1,"quantity":1}]}`, key, "a-good-key-000000003"),
		order(0, `{"quote_id":"`+someID+`","lines":[]}`, key, "a-good-key-000000004"),
		order(0, `{"quote_id":"`+someID+`","lines":[{"sku":1,"quantity":0}]}`, key, "a-good-key-000000005"),
		order(0, `{"quote_id":"`+someID+`","lines":[{"sku":1,"quantity":1}],"total":1}`, key, "a-good-key-000000006"),
		order(413, strings.Repeat("x", 3<<20), key, "a-good-key-000000007"),
		foreign,
	}
}

// refuse sends the request and looks at the answer: a 4xx, as problem details,
// that does not give away what runs behind it.
func refuse(t testing.TB, s *Stack, h hostile) {
	req, err := http.NewRequest(h.method, s.URL(h.service)+"/", strings.NewReader(h.body))
	if err != nil {
		t.Fatal(err)
	}
	// Opaque sends the path exactly as written: url.Parse would clean the tricks away.
	path, query, _ := strings.Cut(h.path, "?")
	req.URL.Opaque, req.URL.RawQuery = "//"+req.URL.Host+path, query
	req.Header = http.Header{"Accept": {"application/json"}}
	if h.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range h.header {
		req.Header[name] = values
	}
	client := &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode < 400 || resp.StatusCode > 499 || h.status != 0 && resp.StatusCode != h.status {
		t.Fatalf("answered %d, want %d: %s", resp.StatusCode, h.status, clip(string(body)))
	}
	var problem struct{ Type, Title string }
	if err := json.Unmarshal(body, &problem); err != nil || resp.Header.Get("Content-Type") != "application/problem+json" || problem.Type == "" {
		t.Errorf("%d is no problem document (%s): %s", resp.StatusCode, resp.Header.Get("Content-Type"), clip(string(body)))
	}
	for _, leak := range []string{"pgx", "SQLSTATE", "goroutine", "/src/", "redis:"} {
		if strings.Contains(string(body), leak) {
			t.Errorf("the answer leaks %q: %s", leak, clip(string(body)))
		}
	}
}

// rowCounts is the number of rows that bad input could have written.
type rowCounts struct {
	orders, keys, outbox, reservations, movements, restocks, quotes, purchases int
}

func (s *Stack) rowCounts(t testing.TB) (c rowCounts) {
	t.Helper()
	s.queryRow(t, "orders", `SELECT count(*) FROM orders`).scan(&c.orders)
	s.queryRow(t, "orders", `SELECT count(*) FROM idempotency_keys`).scan(&c.keys)
	s.queryRow(t, "orders", `SELECT count(*) FROM outbox`).scan(&c.outbox)
	s.queryRow(t, "inventory", `SELECT count(*) FROM reservations`).scan(&c.reservations)
	s.queryRow(t, "inventory", `SELECT count(*) FROM movements`).scan(&c.movements)
	s.queryRow(t, "inventory", `SELECT count(*) FROM restocks`).scan(&c.restocks)
	s.queryRow(t, "pricing", `SELECT count(*) FROM quotes`).scan(&c.quotes)
	s.queryRow(t, "recommendations", `SELECT count(*) FROM purchases`).scan(&c.purchases)
	return c
}
