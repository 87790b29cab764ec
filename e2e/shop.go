//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// facts is the product page as JSON: what a program sees of the same page.
type facts struct {
	Product struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	} `json:"product"`
	Price *struct {
		Amount   int64  `json:"amount"`
		Currency string `json:"currency"`
		Stale    bool   `json:"stale"`
	} `json:"price"`
	Stock *struct {
		Available int  `json:"available"`
		Snapshot  bool `json:"snapshot"`
	} `json:"stock"`
	Recommendations []json.RawMessage `json:"recommendations"`
	Degraded        []string          `json:"degraded"`
}

func pageFacts(t testing.TB, s *Stack, sku int) (f facts) {
	t.Helper()
	getJSON(t, fmt.Sprintf("%s/products/%d", s.URL("productpage"), sku), &f)
	return f
}

// available asks inventory's primary what can still be ordered.
func (s *Stack) available(t testing.TB, sku int) int {
	t.Helper()
	var answer struct {
		Stock []struct {
			SKU       int `json:"sku"`
			Available int `json:"available"`
		} `json:"stock"`
	}
	getJSON(t, fmt.Sprintf("%s/stock?sku=%d&fresh=1", s.URL("inventory"), sku), &answer)
	if len(answer.Stock) != 1 || answer.Stock[0].SKU != sku {
		t.Fatalf("stock of %d: %+v", sku, answer)
	}
	return answer.Stock[0].Available
}

func getJSON(t testing.TB, url string, v any) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s: %s", url, resp.Status, clip(string(body)))
	}
	if err := json.Unmarshal(body, v); err != nil {
		t.Fatalf("GET %s: %v in %s", url, err, clip(string(body)))
	}
}

// purchased says whether recommendations have heard of the order: its own answer
// about the event that orders' outbox says it has delivered.
func (s *Stack) purchased(t testing.TB, orderID string) bool {
	t.Helper()
	var event string
	s.queryRow(t, "orders", `SELECT event_id::text FROM outbox WHERE order_id = $1 AND kind = 'purchase' AND done_at IS NOT NULL`, orderID).scan(&event)
	if event == "" {
		return false
	}
	var purchase struct {
		OrderID string `json:"order_id"`
	}
	getJSON(t, s.URL("recommendations")+"/purchases/"+event, &purchase)
	return purchase.OrderID == orderID
}

// row is one row of a database, read as the auditor, who may only read.
type row struct {
	t   testing.TB
	row pgx.Row
}

func (s *Stack) queryRow(t testing.TB, database, sql string, args ...any) row {
	return row{t, s.SQL(database).QueryRow(context.Background(), sql, args...)}
}

// scan reads the row; no row at all leaves the targets as they are.
func (r row) scan(targets ...any) {
	r.t.Helper()
	if err := r.row.Scan(targets...); err != nil && err != pgx.ErrNoRows {
		r.t.Fatal(err)
	}
}

// eventually waits for something that happens by itself soon after the answer,
// such as the outbox relay's delivery.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	eventuallyIn(t, 15*time.Second, what, ok)
}

func eventuallyIn(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}
