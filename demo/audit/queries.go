package audit

import "time"

// query is a check that one database can answer alone: its culprits, as text. One statement sees one instant.
type query struct {
	Check
	database string
	sql      string
	args     []any
}

func queries(within time.Duration) []query {
	ask := func(invariant, demand, database, sql string, args ...any) query {
		return query{Check{Invariant: invariant, Demand: demand}, database, sql, args}
	}
	return []query{
		ask("I1", "one intent made at most one order", orders, `
SELECT idem_key FROM orders WHERE scope IS NOT NULL GROUP BY scope, idem_key HAVING count(*) > 1`),

		ask("I2", "every answer 201 names an order that exists", orders, `
SELECT k.key FROM idempotency_keys k
 WHERE k.state = 1 AND k.status = 201 AND NOT EXISTS (
       SELECT FROM orders o WHERE (o.scope, o.idem_key) = (k.scope, k.key) AND o.state <> 'abandoned'
          AND o.id::text = convert_from(k.body, 'UTF8')::jsonb ->> 'order_id')`),

		ask("I6", "no order's key was answered with anything but 201", orders, `
SELECT o.id::text FROM orders o JOIN idempotency_keys k ON (k.scope, k.key) = (o.scope, o.idem_key)
 WHERE o.state <> 'abandoned' AND k.state = 1 AND k.status <> 201`),

		ask("I5", "no key is without an answer long after its owner's lease", orders, `
SELECT key FROM idempotency_keys WHERE state = 0 AND lease_until < now() - $1::interval`, within),

		ask("", "every order's lines add up to its total", orders, `
SELECT o.id::text FROM orders o LEFT JOIN order_lines l ON l.order_id = o.id
 WHERE o.state <> 'abandoned' GROUP BY o.id HAVING coalesce(sum(l.amount), -1) <> o.total`),

		ask("I4", "the outbox drains", orders, `
SELECT kind || ' ' || event_id FROM outbox WHERE done_at IS NULL AND parked_at IS NULL AND created_at < now() - $1::interval ORDER BY created_at`, within),

		ask("I4", "no event was parked", orders, `
SELECT kind || ' ' || event_id FROM outbox WHERE parked_at IS NOT NULL ORDER BY parked_at`),

		ask("", "every cancelled order has one event that returns its goods", orders, `
SELECT o.id::text FROM orders o LEFT JOIN outbox e ON e.order_id = o.id AND e.kind = 'restock'
 WHERE (o.state <> 'cancelled' AND e.id IS NOT NULL)
    OR (o.state = 'cancelled' AND e.id IS NULL AND o.created_at > now() - interval '1 day') -- delivered ones are deleted after a day`),

		ask("I4", "counters, ledger and holds agree for every item", inventory, `
SELECT sku::text FROM discrepancies`),

		ask("I4", "no item has less than nothing", inventory, `
SELECT sku::text FROM items WHERE on_hand < 0 OR reserved < 0 OR reserved > on_hand`),

		ask("I4", "sales and returns moved exactly their reservation's lines", inventory, `
WITH due AS (
    SELECT r.id, l.sku, l.quantity * (CASE WHEN s.order_id IS NULL THEN 1 ELSE 0 END) AS gone
      FROM reservations r JOIN reservation_lines l ON l.reservation_id = r.id LEFT JOIN restocks s ON s.order_id = r.id
     WHERE r.state = 'committed'
), done AS (
    SELECT order_id AS id, sku, -sum(on_hand) AS gone FROM movements WHERE kind IN ('commit', 'return') GROUP BY order_id, sku
)
SELECT DISTINCT id::text FROM due FULL JOIN done USING (id, sku) WHERE due.gone IS DISTINCT FROM done.gone`),

		ask("I4", "no hold is kept long after its time", inventory, `
SELECT id::text FROM reservations WHERE state = 'held' AND expires_at < now() - $1::interval ORDER BY expires_at`, within),
	}
}
