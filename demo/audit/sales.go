package audit

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// sales is what the three databases say of each sale, by order id, for the checks that need more than one of them. "Before" was read
// before orders' database, "after" after it. All sales there ever were are in memory, about 300 bytes each: lines are compared by hash.
type sales struct {
	orders                          map[uuid.UUID]order
	before, after                   map[uuid.UUID]reservation
	returnedBefore, returnedAfter   map[uuid.UUID]uuid.UUID // events
	purchasesBefore, purchasesAfter map[uuid.UUID]purchase
}

// order is a row of orders. Events are waiting, parked or delivered; delivered are also those whose rows were deleted, a day later,
// and then PurchaseID is nil.
type order struct {
	State                     string
	Lines                     int64
	Commit, Purchase, Restock string
	PurchaseID                *uuid.UUID
}

type reservation struct {
	State string
	Lines int64
}

type purchase struct {
	Event uuid.UUID
	Times int
}

const delivered = "delivered"

const (
	reservationsSQL = `
SELECT r.id, r.state, hashtextextended(coalesce(string_agg(l.sku || 'x' || l.quantity, ' ' ORDER BY l.sku), ''), 0)
  FROM reservations r LEFT JOIN reservation_lines l ON l.reservation_id = r.id GROUP BY r.id`

	ordersSQL = `
WITH events AS (
    SELECT order_id, kind, event_id, CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN done_at IS NULL THEN 'waiting' ELSE 'delivered' END AS state FROM outbox
), lines AS (
    SELECT order_id, string_agg(sku || 'x' || quantity, ' ' ORDER BY sku) AS text FROM order_lines GROUP BY order_id
)
SELECT o.id, o.state, hashtextextended(coalesce(l.text, ''), 0),
       coalesce(c.state, 'delivered'), coalesce(p.state, 'delivered'), coalesce(r.state, 'delivered'), p.event_id
  FROM orders o
  LEFT JOIN lines l ON l.order_id = o.id
  LEFT JOIN events c ON c.order_id = o.id AND c.kind = 'commit_reservation'
  LEFT JOIN events p ON p.order_id = o.id AND p.kind = 'purchase'
  LEFT JOIN events r ON r.order_id = o.id AND r.kind = 'restock'`

	purchasesSQL = `SELECT order_id, min(event_id::text)::uuid, count(*) FROM purchases GROUP BY order_id`
	restocksSQL  = `SELECT order_id, event_id FROM restocks`
)

func readSales(ctx context.Context, shop map[string]*pgx.Conn) (s sales, err error) {
	reservations := func(into *map[uuid.UUID]reservation) error {
		var r reservation
		*into, err = byID(ctx, shop[inventory], reservationsSQL, &r, &r.State, &r.Lines)
		return err
	}
	returned := func(into *map[uuid.UUID]uuid.UUID) error {
		var event uuid.UUID
		*into, err = byID(ctx, shop[inventory], restocksSQL, &event, &event)
		return err
	}
	purchases := func(into *map[uuid.UUID]purchase) error {
		var p purchase
		*into, err = byID(ctx, shop[recommendations], purchasesSQL, &p, &p.Event, &p.Times)
		return err
	}
	for _, step := range []func() error{
		func() error { return reservations(&s.before) },
		func() error { return returned(&s.returnedBefore) },
		func() error { return purchases(&s.purchasesBefore) },
		func() error {
			var o order
			s.orders, err = byID(ctx, shop[orders], ordersSQL, &o, &o.State, &o.Lines, &o.Commit, &o.Purchase, &o.Restock, &o.PurchaseID)
			return err
		},
		func() error { return reservations(&s.after) },
		func() error { return returned(&s.returnedAfter) },
		func() error { return purchases(&s.purchasesAfter) },
	} {
		if err := step(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// byID reads rows of an id and the fields of row, which it copies into the map.
func byID[T any](ctx context.Context, db *pgx.Conn, sql string, row *T, fields ...any) (map[uuid.UUID]T, error) {
	rows, err := db.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	found := map[uuid.UUID]T{}
	var id uuid.UUID
	_, err = pgx.ForEachRow(rows, append([]any{&id}, fields...), func() error { found[id] = *row; return nil })
	return found, err
}

// placed reports whether the order was: cancelled ones were, tombstones were not.
func (s sales) placed(id uuid.UUID) bool {
	o, ok := s.orders[id]
	return ok && o.State != "abandoned"
}

func (s sales) checks() []Check {
	return []Check{
		check("I4", "every sale and every return belongs to an order", func(wrong func(uuid.UUID)) {
			for id, r := range s.before {
				if r.State == "committed" && !s.placed(id) {
					wrong(id)
				}
			}
			for id := range s.returnedBefore {
				if s.orders[id].State != "cancelled" {
					wrong(id)
				}
			}
		}),
		check("I4", "every order has its stock, line by line", func(wrong func(uuid.UUID)) {
			for id, o := range s.orders {
				r, ok := s.after[id]
				has := ok && o.Lines == r.Lines && r.State != "released" && (o.Commit != delivered || r.State == "committed")
				if s.placed(id) && !has {
					wrong(id)
				}
			}
		}),
		check("I4", "every cancelled order's goods came back", func(wrong func(uuid.UUID)) {
			for id, o := range s.orders {
				if _, back := s.returnedAfter[id]; o.State == "cancelled" && o.Restock == delivered && !back {
					wrong(id)
				}
			}
		}),
		check("", "every purchase arrived once, and belongs to an order", func(wrong func(uuid.UUID)) {
			for id := range s.purchasesBefore {
				if !s.placed(id) {
					wrong(id)
				}
			}
			for id, o := range s.orders {
				p, arrived := s.purchasesAfter[id]
				missing := !arrived && o.Purchase == delivered
				other := arrived && o.PurchaseID != nil && p.Event != *o.PurchaseID
				if s.placed(id) && (missing || other || p.Times > 1) {
					wrong(id)
				}
			}
		}),
	}
}

func check(invariant, demand string, culprits func(wrong func(uuid.UUID))) Check {
	var found []string
	culprits(func(id uuid.UUID) { found = append(found, id.String()) })
	return Check{Invariant: invariant, Demand: demand}.against(found)
}
