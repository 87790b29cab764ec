package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/resilience"
)

// settleLines ends a hold in one statement: committed goods leave the shelf,
// released ones become available. Locks as reserveLines does: items by SKU
// first. count(*) makes Postgres take every item's lock before it touches the
// reservation, whose state it then checks in its newest version.
const settleLines = `
WITH locked AS (
    SELECT i.sku, l.quantity
    FROM reservations r JOIN reservation_lines l ON l.reservation_id = r.id JOIN items i USING (sku)
    WHERE r.id = $1 AND r.state = 'held'
    ORDER BY i.sku FOR NO KEY UPDATE OF i
), settled AS (
    UPDATE reservations SET state = $2, settled_at = now()
    WHERE id = $1 AND state = 'held' AND (SELECT count(*) FROM locked) > 0
    RETURNING id, CASE state WHEN 'committed' THEN 'commit' ELSE 'release' END AS kind,
              CASE state WHEN 'committed' THEN 1 ELSE 0 END AS leaves
), ledger AS (
    INSERT INTO movements (sku, kind, on_hand, reserved, order_id)
    SELECT sku, kind, -leaves * quantity, -quantity, id FROM settled, locked ORDER BY sku
)
UPDATE items i SET on_hand = i.on_hand - leaves * quantity, reserved = i.reserved - quantity, version = i.version + 1
FROM settled, locked l WHERE i.sku = l.sku
RETURNING i.sku, i.on_hand - i.reserved, i.version, clock_timestamp()`

const bury = `
INSERT INTO reservations (id, state, expires_at, sweep_at, settled_at)
VALUES ($1, 'released', now(), now(), now()) ON CONFLICT (id) DO NOTHING`

// Settle commits or releases the order's reservation; repeated it answers the
// same and moves nothing. A release of an unknown order is remembered, so that
// a reserve that arrives later cannot hold; a commit of one is ErrNotFound.
// ErrCommitted and ErrReleased say that it ended the other way. One round trip.
func (s *store) Settle(ctx context.Context, id uuid.UUID, to State) (Reservation, error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) (Reservation, error) {
		return again(ctx, func(ctx context.Context) (Reservation, error) {
			r, err := s.trySettle(ctx, id, to)
			if err != nil || r.Moved {
				return r, err
			}
			return r.arrive(to)
		})
	})
}

// trySettle sends all it may take in one batch, which is one transaction: when
// Close returns without error everything is durable.
func (s *store) trySettle(ctx context.Context, id uuid.UUID, to State) (r Reservation, err error) {
	var batch pgx.Batch
	var counts []Count
	batch.Queue(settleLines, id, to).Query(func(rows pgx.Rows) (err error) {
		counts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Count])
		return err
	})
	if to == Released {
		batch.Queue(bury, id)
	}
	var found error
	batch.Queue(findReservation, id).QueryRow(func(row pgx.Row) error {
		r, found = scanReservation(row)
		return nil
	})
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return Reservation{}, err
	}
	if r.Moved = len(counts) > 0; r.Moved {
		s.moved(counts)
	}
	return r, found
}

// Reservation reads the order's reservation from the primary, or ErrNotFound.
func (s *store) Reservation(ctx context.Context, id uuid.UUID) (Reservation, error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) (Reservation, error) {
		return scanReservation(s.db.QueryRow(ctx, findReservation, id))
	})
}
