package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/resilience"
)

// returnLines puts a cancelled order's goods back on the shelf. It locks as settleLines does, items by SKU first, so that a twin
// which waited for them finds the event known and writes nothing.
const returnLines = `
WITH locked AS (
    SELECT i.sku, l.quantity
    FROM reservations r JOIN reservation_lines l ON l.reservation_id = r.id JOIN items i USING (sku)
    WHERE r.id = $2 AND r.state = 'committed'
      AND NOT EXISTS (SELECT FROM restocks WHERE event_id = $1 OR order_id = $2)
    ORDER BY i.sku FOR NO KEY UPDATE OF i
), returned AS (
    INSERT INTO restocks (event_id, order_id)
    SELECT $1, $2 WHERE (SELECT count(*) FROM locked) > 0
    ON CONFLICT DO NOTHING
    RETURNING order_id
), ledger AS (
    INSERT INTO movements (sku, kind, on_hand, reserved, order_id)
    SELECT sku, 'return', quantity, 0, order_id FROM returned, locked ORDER BY sku
)
UPDATE items i SET on_hand = i.on_hand + l.quantity, version = i.version + 1
FROM returned, locked l WHERE i.sku = l.sku
RETURNING i.sku, i.on_hand - i.reserved, i.version, clock_timestamp()`

const findRestock = `SELECT count(*) FILTER (WHERE event_id = $1 AND order_id = $2), count(*) FROM restocks WHERE event_id = $1 OR order_id = $2`

// Restock brings the goods of a cancelled order back, once for each event. A hold that is still open becomes a sale first: events
// of different kinds overtake each other, and this one proves that the order was confirmed. Refusals are ErrNotFound,
// ErrReleased, and ErrRestocked for an event or an order that has been restocked otherwise. One round trip.
func (s *store) Restock(ctx context.Context, event, order uuid.UUID) (Reservation, error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) (Reservation, error) {
		return again(ctx, func(ctx context.Context) (Reservation, error) { return s.tryRestock(ctx, event, order) })
	})
}

func (s *store) tryRestock(ctx context.Context, event, order uuid.UUID) (r Reservation, err error) {
	var batch pgx.Batch
	var sold, returned []Count
	collect := func(into *[]Count) func(pgx.Rows) error {
		return func(rows pgx.Rows) (err error) {
			*into, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Count])
			return err
		}
	}
	batch.Queue(settleLines, order, Committed).Query(collect(&sold))
	batch.Queue(returnLines, event, order).Query(collect(&returned))
	var same, known int
	batch.Queue(findRestock, event, order).QueryRow(func(row pgx.Row) error { return row.Scan(&same, &known) })
	var found error
	batch.Queue(findReservation, order).QueryRow(func(row pgx.Row) error {
		r, found = scanReservation(row)
		return nil
	})
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return Reservation{}, err
	}
	if counts := append(sold, returned...); len(counts) > 0 {
		s.moved(counts)
	}
	r.Moved = len(returned) > 0
	switch {
	case same == 1:
		return r, nil
	case known > 0:
		return r, ErrRestocked
	case found != nil:
		return Reservation{}, found
	case r.State == Released:
		return r, ErrReleased
	}
	return r, ErrContended // it was reserved after we looked
}
