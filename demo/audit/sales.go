package audit

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// sales is what the three databases say of each sale, for the checks that need more than one of them. "before" was read before
// orders' database, "after" after it.
type sales struct {
	orders             map[string]order
	before, after      map[string]reservation
	boughtBefore       map[string]string // event of the purchase by order, as recommendations knows it
	boughtAfter        map[string]string
	returned, restocks map[string]string // event by order; before and after
}

// order as orders knows it. Events are "waiting", "parked", or "delivered": those too whose row was deleted, a day later.
type order struct{ ID, State, Lines, Commit, Purchase, PurchaseID, Restock string }

type reservation struct{ ID, State, Lines string }

func (o order) key() string       { return o.ID }
func (r reservation) key() string { return r.ID }

const (
	reservationsSQL = `
SELECT r.id::text, r.state, coalesce(string_agg(l.sku || 'x' || l.quantity, ' ' ORDER BY l.sku), '')
  FROM reservations r LEFT JOIN reservation_lines l ON l.reservation_id = r.id GROUP BY r.id`

	ordersSQL = `
WITH events AS (
    SELECT order_id, kind, event_id::text, CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN done_at IS NULL THEN 'waiting' ELSE 'delivered' END AS state FROM outbox
)
SELECT o.id::text, o.state,
       coalesce((SELECT string_agg(sku || 'x' || quantity, ' ' ORDER BY sku) FROM order_lines WHERE order_id = o.id), ''),
       coalesce(c.state, 'delivered'), coalesce(p.state, 'delivered'), coalesce(p.event_id, ''), coalesce(r.state, 'delivered')
  FROM orders o
  LEFT JOIN events c ON c.order_id = o.id AND c.kind = 'commit_reservation'
  LEFT JOIN events p ON p.order_id = o.id AND p.kind = 'purchase'
  LEFT JOIN events r ON r.order_id = o.id AND r.kind = 'restock'`

	purchasesSQL = `SELECT order_id::text, string_agg(event_id::text, ' ') FROM purchases GROUP BY order_id`
	restocksSQL  = `SELECT order_id::text, event_id::text FROM restocks`
)

func readSales(ctx context.Context, shop map[string]*pgx.Conn) (s sales, err error) {
	steps := []func() error{
		func() error { s.before, err = byID[reservation](ctx, shop[inventory], reservationsSQL); return err },
		func() error { s.returned, err = pairs(ctx, shop[inventory], restocksSQL); return err },
		func() error { s.boughtBefore, err = pairs(ctx, shop[recommendations], purchasesSQL); return err },
		func() error { s.orders, err = byID[order](ctx, shop[orders], ordersSQL); return err },
		func() error { s.after, err = byID[reservation](ctx, shop[inventory], reservationsSQL); return err },
		func() error { s.restocks, err = pairs(ctx, shop[inventory], restocksSQL); return err },
		func() error { s.boughtAfter, err = pairs(ctx, shop[recommendations], purchasesSQL); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s sales) checks() []Check {
	collect := func(invariant, demand string, culprits func(add func(string))) Check {
		var found []string
		culprits(func(id string) { found = append(found, id) })
		return Check{Invariant: invariant, Demand: demand}.against(found)
	}
	placed := func(id string) bool { o, ok := s.orders[id]; return ok && o.State != "abandoned" }
	return []Check{
		collect("I4", "every sale and every return belongs to an order", func(add func(string)) {
			for id, r := range s.before {
				if r.State == "committed" && !placed(id) {
					add(id)
				}
			}
			for id := range s.returned {
				if s.orders[id].State != "cancelled" {
					add(id)
				}
			}
		}),
		collect("I4", "every order has its stock, line by line", func(add func(string)) {
			for id, o := range s.orders {
				r := s.after[id]
				lost := o.Lines != r.Lines || r.State == "released" || o.Commit == "delivered" && r.State != "committed"
				if placed(id) && lost {
					add(id)
				}
			}
		}),
		collect("I4", "every cancelled order's goods came back", func(add func(string)) {
			for id, o := range s.orders {
				if o.State == "cancelled" && o.Restock == "delivered" && s.restocks[id] == "" {
					add(id)
				}
			}
		}),
		collect("", "every purchase arrived once, and belongs to an order", func(add func(string)) {
			for id := range s.boughtBefore {
				if !placed(id) {
					add(id)
				}
			}
			for id, o := range s.orders {
				event := s.boughtAfter[id]
				wrong := event == "" && o.Purchase == "delivered" || event != "" && o.PurchaseID != "" && event != o.PurchaseID
				if placed(id) && (wrong || len(event) > 36) {
					add(id)
				}
			}
		}),
	}
}

// byID reads rows of T under the key that each has.
func byID[T interface{ key() string }](ctx context.Context, db *pgx.Conn, sql string) (map[string]T, error) {
	rows, err := db.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	found := make(map[string]T, len(list))
	for _, v := range list {
		found[v.key()] = v
	}
	return found, err
}

func pairs(ctx context.Context, db *pgx.Conn, sql string) (map[string]string, error) {
	found := map[string]string{}
	rows, err := db.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	var key, value string
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error { found[key] = value; return nil })
	return found, err
}
