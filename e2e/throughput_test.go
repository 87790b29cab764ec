//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

var throughput = flag.Duration("throughput", 3*time.Second, "how long TestOrderThroughput orders from one shelf, and from many; make bench uses 20s")

// buyers order as fast as they are answered, each waiting for its own answer: enough to keep two cores busy, not so many that they are
// refused.
const buyers = 6

// TestOrderThroughput orders as fast as one instance of orders and one of inventory take it, once everybody the same product and
// once everybody another. What it asserts does not depend on this machine's speed: every order is placed, and costs no more round trips
// than it may. Placing one takes two to orders' Postgres, which a test of orders counts, and its two events at most two each, a lease and
// a settlement, of which a busy relay needs fewer because it takes what waits in one batch. Inventory needs one to reserve and one to
// commit. What runs in the background is less than half a round trip per order.
//
// Everybody the same product is the worst case for a lock: inventory's statement holds the row only while Postgres works, so the
// hot product costs its commits one after the other and nothing more.
func TestOrderThroughput(t *testing.T) {
	s := stack(t)
	for _, shelf := range []struct {
		name string
		sku  func(buyer, n int) int
	}{
		{"everybody the same product", func(int, int) int { return 42 }},
		{"everybody another product", func(buyer, n int) int { return plenty(100 + (n*buyers+buyer)%1800) }},
	} {
		t.Run(shelf.name, func(t *testing.T) {
			before := s.trips(t)
			took, elapsed := s.orderAsFastAsPossible(t, shelf.sku)
			s.delivered(t)
			after, orders := s.trips(t), float64(len(took))
			slices.Sort(took)
			at := func(q float64) time.Duration { return took[int(q*(orders-1))].Round(100 * time.Microsecond) }
			perOrders, perInventory := (after.orders-before.orders)/orders, (after.inventory-before.inventory)/orders
			t.Logf("%.0f orders/s, p50 %s, p99 %s; round trips per order: %.2f at orders, %.2f at inventory, deliveries and background work included",
				orders/elapsed.Seconds(), at(.5), at(.99), perOrders, perInventory)
			if perOrders > 6.5 || perInventory > 2.5 {
				t.Errorf("%.2f round trips to orders' Postgres and %.2f to inventory's per order, want at most 6 and 2, and what runs in the background", perOrders, perInventory)
			}
		})
	}
}

// plenty is the product, or the next one of which the shop has not been seeded with few or none.
func plenty(sku int) int {
	for sku%41 == 0 || sku%97 == 0 {
		sku++
	}
	return sku
}

// orderAsFastAsPossible gives the time of each order from the request to the answer, without that of its quote.
func (s *Stack) orderAsFastAsPossible(t testing.TB, sku func(buyer, n int) int) (took []time.Duration, elapsed time.Duration) {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: buyers}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var all sync.WaitGroup
	began := time.Now()
	for buyer := range buyers {
		all.Go(func() {
			for n := 0; time.Since(began) < *throughput; n++ {
				one, err := s.orderOnce(client, sku(buyer, n))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				took = append(took, one)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(took) == 0 {
		t.Fatal("no order was placed")
	}
	return took, time.Since(began)
}

func (s *Stack) orderOnce(client *http.Client, sku int) (time.Duration, error) {
	lines := []map[string]int{{"sku": sku, "quantity": 1}}
	var quote struct {
		ID string `json:"quote_id"`
	}
	if err := post(client, s.URL("pricing")+"/quotes", nil, map[string]any{"lines": lines}, &quote); err != nil {
		return 0, err
	}
	began := time.Now()
	err := post(client, s.URL("orders")+"/orders",
		http.Header{"Idempotency-Key": {uuid.NewString()}, "X-Customer-Id": {uuid.NewString()}},
		map[string]any{"lines": lines, "quote_id": quote.ID}, nil)
	return time.Since(began), err
}

func post(client *http.Client, url string, header http.Header, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("POST %s: %s %s %v", url, resp.Status, clip(string(got)), err)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(got, answer)
}

type trips struct{ orders, inventory float64 }

// trips is how many round trips both have made to their Postgres so far; of inventory that is the primary.
func (s *Stack) trips(t testing.TB) trips {
	t.Helper()
	return trips{
		orders:    s.sum(t, "orders", "postgres_round_trips_total"),
		inventory: s.sum(t, "inventory", "postgres_round_trips_total", `db="postgres-primary"`),
	}
}

// delivered waits until every event has reached its receiver: that belongs to the price of an order.
func (s *Stack) delivered(t testing.TB) {
	t.Helper()
	eventuallyIn(t, 2*time.Minute, "every event is delivered", func() (all bool) {
		s.queryRow(t, "orders", `SELECT NOT EXISTS (SELECT FROM outbox WHERE done_at IS NULL)`).scan(&all)
		return all
	})
}
