//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// atTheButton is a customer whose order form is filled in.
type atTheButton struct {
	s    *Stack
	v    *visitor
	form url.Values
	told *bool // that nothing was ordered
}

func (s *Stack) atTheButton(t testing.TB, sku int) atTheButton {
	t.Helper()
	v := newVisitor(t, s.URL("productpage"))
	p := v.get(fmt.Sprintf("/checkout?sku=%d&qty=1", sku))
	want(t, p, http.StatusOK)
	_, _, values := p.form(t, "/checkout")
	return atTheButton{s, v, values, new(bool)}
}

// press sends the form while something is broken. The answer comes within the checkout's budget and is the order, or a page that
// says what to do.
func (a atTheButton) press(t testing.TB) {
	t.Helper()
	pressed := time.Now()
	p := a.v.post("/checkout", a.form)
	// The checkout's 4 s, and the 1 s of the page to which it leads.
	if took := time.Since(pressed); took > 5*time.Second {
		t.Errorf("the answer to an order took %s", took)
	}
	t.Logf("pressed the button: %d at %s after %s", p.status, p.url.Path, time.Since(pressed).Round(10*time.Millisecond))
	progress, key := "/checkout/"+a.form.Get("key"), a.form.Get("key")
	switch {
	case p.status == http.StatusOK && orderPath.MatchString(p.url.Path):
	case p.status == http.StatusOK && p.url.Path == progress:
		if !strings.Contains(p.text(), "looks again") {
			t.Errorf("the page of an order in progress does not say what happens next: %s", clip(p.text()))
		}
	case p.status == http.StatusNotFound && p.url.Path == progress: // it has not arrived
		if !strings.Contains(p.text(), "never orders twice") {
			t.Errorf("the page of an order that did not arrive does not say what to do: %s", clip(p.text()))
		}
	case p.status == http.StatusServiceUnavailable:
		_, _, again := p.form(t, "/checkout")
		if again.Get("key") != key || p.header.Get("Retry-After") == "" || !strings.Contains(p.text(), "Nothing was ordered") {
			t.Errorf("the refusal does not offer the same form again, with a Retry-After: %v %s", p.header, clip(p.text()))
		}
		*a.told = true
	default:
		inexcusable(t, "neither an order nor a clean refusal: %d at %s: %s", p.status, p.url, clip(p.text()))
	}
}

// getsOneOrder presses the button of the same form until there is an order. However often that was, there is one.
func (a atTheButton) getsOneOrder(t testing.TB) {
	t.Helper()
	if *a.told { // and believed it
		var claims int
		if a.s.queryRow(t, "orders", `SELECT count(*) FROM idempotency_keys WHERE key = $1`, a.form.Get("key")).scan(&claims); claims > 0 {
			inexcusable(t, "the customer was told that nothing was ordered, and orders has the key and will place it")
		}
	}
	var p *page
	// An order left half-way by a crash is finished 1 s after its lease of 10 s; a breaker probes after at most 3 s.
	eventuallyIn(t, 15*time.Second, "the order is placed", func() bool {
		p = a.v.post("/checkout", a.form)
		return p.status == http.StatusOK && orderPath.MatchString(p.url.Path)
	})
	var orders int
	var id string
	a.s.queryRow(t, "orders", `SELECT count(*), min(id::text) FROM orders WHERE idem_key = $1`, a.form.Get("key")).scan(&orders, &id)
	if orders != 1 || "/orders/"+id != p.url.Path {
		inexcusable(t, "%d orders under one key, %s; the customer sees %s", orders, id, p.url.Path)
	}
}

// arrivesNow is a customer who comes to the form while something is broken: there is a price and a button, or the page says that
// there is none.
func arrivesNow(t testing.TB, s *Stack) {
	t.Helper()
	p := newVisitor(t, s.URL("productpage")).get("/checkout?sku=1307&qty=1")
	want(t, p, http.StatusOK)
	if !strings.Contains(p.body, `name="quote"`) && !strings.Contains(p.header.Get("Degraded"), "price") {
		t.Errorf("the checkout has no button and does not say why: %s", clip(p.text()))
	}
}

// noHalfOrders compares what orders and inventory have in their databases once everything has come to rest, which is within 15 s of
// the last fault: every confirmed order has its stock taken and its answer stored, nothing else has anything.
func (s *Stack) noHalfOrders(t testing.TB) {
	t.Helper()
	var halves []string
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if halves = s.halfOrders(t); len(halves) == 0 {
			return
		}
		if time.Now().After(deadline) {
			inexcusable(t, "half orders:\n%s", strings.Join(halves, "\n"))
			return
		}
	}
}

func (s *Stack) halfOrders(t testing.TB) (halves []string) {
	orders := s.pairs(t, "orders", `SELECT id::text, state FROM orders WHERE state <> 'abandoned'`)
	taken := s.pairs(t, "inventory", `SELECT id::text, state FROM reservations WHERE state <> 'released'`)
	for id, state := range orders {
		if taken[id] != "committed" {
			halves = append(halves, fmt.Sprintf("order %s is %s, its reservation %q", id, state, taken[id]))
		}
	}
	for id, state := range taken {
		if orders[id] == "" {
			halves = append(halves, fmt.Sprintf("reservation %s is %s, but there is no such order", id, state))
		}
	}
	for id := range s.pairs(t, "orders", `SELECT o.id::text, '' FROM orders o LEFT JOIN idempotency_keys k ON (k.scope, k.key) = (o.scope, o.idem_key)
		WHERE o.state = 'confirmed' AND (k.state IS DISTINCT FROM 1 OR k.status <> 201)`) {
		halves = append(halves, fmt.Sprintf("order %s has no answer", id))
	}
	for key := range s.pairs(t, "orders", `SELECT key, '' FROM idempotency_keys WHERE state = 0`) {
		halves = append(halves, fmt.Sprintf("key %s has not come to an end", key))
	}
	for sku := range s.pairs(t, "inventory", `SELECT sku::text, '' FROM discrepancies`) {
		halves = append(halves, fmt.Sprintf("sku %s: counters, ledger and holds differ", sku))
	}
	return slices.Sorted(slices.Values(halves))
}

// pairs reads two columns as a map.
func (s *Stack) pairs(t testing.TB, database, sql string) map[string]string {
	t.Helper()
	rows, err := s.SQL(database).Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	var key, value string
	if _, err := pgx.ForEachRow(rows, []any{&key, &value}, func() error { found[key] = value; return nil }); err != nil {
		t.Fatal(err)
	}
	return found
}
