//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"watertight.example/demo/audit"
)

// restLimit is how long after the last fault everything has to be terminal: DESIGN, section 5.
const restLimit = 15 * time.Second

// atRest waits until nothing is under way any more: no key without an answer, no event that waits, no hold. It returns how long after
// since that was.
func (s *Stack) atRest(t testing.TB, since time.Time, limit time.Duration) time.Duration {
	t.Helper()
	for {
		var waiting []string
		for _, q := range []struct{ what, database, sql string }{
			{"keys", "orders", `SELECT count(*) FROM idempotency_keys WHERE state = 0`},
			{"events", "orders", `SELECT count(*) FROM outbox WHERE done_at IS NULL AND parked_at IS NULL`},
			{"holds", "inventory", `SELECT count(*) FROM reservations WHERE state = 'held'`},
		} {
			var n int
			s.queryRow(t, q.database, q.sql).scan(&n)
			if n > 0 {
				waiting = append(waiting, fmt.Sprintf("%d %s", n, q.what))
			}
		}
		took := time.Since(since).Round(10 * time.Millisecond)
		if len(waiting) == 0 {
			return took
		}
		if took > limit {
			t.Errorf("%s after the last fault there are %s", took, strings.Join(waiting, ", "))
			return took
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// audit runs `demo audit` over the three databases.
func (s *Stack) audit(t testing.TB) audit.Report {
	t.Helper()
	url := func(database string) string {
		return fmt.Sprintf("postgres://auditor:auditor-demo@%s/%s?sslmode=disable", s.ports.addr(servers[database], 5432), database)
	}
	report, err := audit.Run(context.Background(), audit.Config{Orders: url("orders"), Inventory: url("inventory"), Recommendations: url("recommendations"), Within: restLimit})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// stock is what can be sold of each product, by inventory's counters.
func (s *Stack) stock(t testing.TB) map[int]int {
	t.Helper()
	return s.numbers(t, "inventory", `SELECT sku, on_hand - reserved FROM items`)
}

// sold is how much of each product was ordered, by orders' database.
func (s *Stack) sold(t testing.TB) map[int]int {
	t.Helper()
	return s.numbers(t, "orders", `SELECT l.sku, sum(l.quantity)::int FROM order_lines l JOIN orders o ON o.id = l.order_id WHERE o.state = 'confirmed' GROUP BY l.sku`)
}

// numbers reads two columns of numbers as a map.
func (s *Stack) numbers(t testing.TB, database, sql string) map[int]int {
	t.Helper()
	found := map[int]int{}
	var key, value int
	s.rows(t, database, sql, []any{&key, &value}, func() { found[key] = value })
	return found
}

func (s *Stack) rows(t testing.TB, database, sql string, fields []any, row func()) {
	t.Helper()
	rows, err := s.SQL(database).Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.ForEachRow(rows, fields, func() error { row(); return nil }); err != nil {
		t.Fatal(err)
	}
}

// releasedHolds are those of a run that came to nothing, in the run's time. All containers share this machine's clock.
func (s *Stack) releasedHolds(t testing.TB, began time.Time) (holds []hold) {
	t.Helper()
	var sku, quantity int
	var from, to time.Time
	s.rows(t, "inventory", `
SELECT m.sku, m.reserved, m.at, r.settled_at FROM movements m JOIN reservations r ON r.id = m.order_id WHERE m.kind = 'reserve' AND r.state = 'released'`,
		[]any{&sku, &quantity, &from, &to}, func() {
			holds = append(holds, hold{sku, quantity, from.Sub(began), to.Sub(began)})
		})
	return holds
}

// booksAgree compares what clients were told with what orders' database says: I1, I2, I3, I5 and I6 of the reference, each deviation
// named. Clients have asked until they had an answer. Of I5 this is that there is one; that no key stays in 409 is stuckInProgress.
func (s *Stack) booksAgree(t testing.TB, intents []*intent) (wrong []string) {
	t.Helper()
	say := func(invariant, format string, args ...any) {
		wrong = append(wrong, invariant+": "+fmt.Sprintf(format, args...))
	}
	type kept struct {
		status int
		answer digest
	}
	answers, orders := map[string]kept{}, map[string][]string{}
	var key, id string
	var status int
	var body []byte
	s.rows(t, "orders", `SELECT key, status, body FROM idempotency_keys WHERE state = 1 AND scope LIKE 'POST /orders matrix-%'`,
		[]any{&key, &status, &body}, func() { answers[key] = kept{status, digestOf(status, body)} })
	s.rows(t, "orders", `SELECT idem_key, id::text FROM orders WHERE scope LIKE 'POST /orders matrix-%'`,
		[]any{&key, &id}, func() { orders[key] = append(orders[key], id) })

	for _, in := range intents {
		if in.status == 0 {
			say("I5", "key %s has no answer after %d attempts", in.key, len(in.attempts))
			continue
		}
		var want []string
		if in.status == 201 {
			want = []string{in.orderID}
		}
		if got := orders[in.key]; len(got) > 1 {
			say("I1", "key %s made the orders %v", in.key, got)
		} else if !slices.Equal(got, want) {
			say("I2", "key %s was answered %d %s, and there are the orders %v", in.key, in.status, in.orderID, got)
		}
		delete(orders, in.key)
		for _, a := range in.attempts {
			if final := a.outcome == executed || a.outcome == replayed; final && a.answer != answers[in.key].answer {
				say("I3", "key %s: an answer differs from the stored one, of status %d", in.key, answers[in.key].status)
			}
		}
	}
	for key, ids := range orders {
		say("I6", "key %s made the orders %v, and nobody was told", key, ids)
	}
	return wrong
}
