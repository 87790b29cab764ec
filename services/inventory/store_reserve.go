package main

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/resilience"
)

// reserveLines is the whole reservation in one autocommitted statement: a hot
// item's row is locked while Postgres works, never while the network does, so
// that one popular product cannot serialise the shop on our round trips.
//
// Items are locked in the order of their SKUs, then the reservation; settling
// does the same, so the two cannot deadlock. FOR UPDATE looks at the row again
// after waiting: an item that no longer has enough drops out of locked, the
// counts differ, and nothing is written. A refused item that was sold out from
// the start and an order that has its reservation already take no lock at all.
const reserveLines = `
WITH wanted AS (
    SELECT * FROM unnest($2::int[], $3::int[]) AS w(sku, quantity)
), locked AS (
    SELECT i.sku, w.quantity FROM items i JOIN wanted w USING (sku)
    WHERE i.on_hand - i.reserved >= w.quantity
      AND NOT EXISTS (SELECT FROM reservations WHERE id = $1)
    ORDER BY i.sku FOR NO KEY UPDATE OF i
), held AS (
    INSERT INTO reservations (id, state, expires_at, sweep_at)
    SELECT $1, 'held', now() + $4::interval, now() + $4::interval
    WHERE (SELECT count(*) FROM locked) = (SELECT count(*) FROM wanted)
    ON CONFLICT (id) DO NOTHING
    RETURNING id, expires_at
), lines AS (
    INSERT INTO reservation_lines (reservation_id, sku, quantity)
    SELECT held.id, sku, quantity FROM held, locked
), ledger AS (
    INSERT INTO movements (sku, kind, on_hand, reserved, order_id)
    SELECT sku, 'reserve', 0, quantity, held.id FROM held, locked ORDER BY sku
), counted AS (
    UPDATE items i SET reserved = i.reserved + l.quantity, version = i.version + 1
    FROM locked l, held WHERE i.sku = l.sku
    RETURNING i.sku, i.on_hand - i.reserved AS available, i.version, clock_timestamp() AS as_of
)
SELECT c.sku, c.available, c.version, c.as_of, held.expires_at FROM counted c, held`

const findCounters = `SELECT sku, on_hand - reserved FROM items WHERE sku = ANY($1)`

// Reserve holds every line or none of them for the order; lines are sorted by
// SKU and distinct. It is idempotent by order id: the same lines again return
// the same reservation, not Moved. Refusals are ErrReleased, ErrMismatch,
// *ShortError and *UnknownSKUError. One round trip when it holds, two otherwise.
func (s *store) Reserve(ctx context.Context, id uuid.UUID, lines []Line) (Reservation, error) {
	leave, err := s.hot.enter(ctx, lines)
	if err != nil {
		return Reservation{}, err
	}
	defer leave()
	return resilience.Call(ctx, s.dep, func(ctx context.Context) (Reservation, error) {
		return again(ctx, func(ctx context.Context) (Reservation, error) {
			if r, err := s.tryReserve(ctx, id, lines); r.Moved || err != nil {
				return r, err
			}
			return s.explain(ctx, id, lines)
		})
	})
}

func (s *store) tryReserve(ctx context.Context, id uuid.UUID, lines []Line) (Reservation, error) {
	skus, quantities := columns(lines)
	rows, err := s.db.Query(ctx, reserveLines, id, skus, quantities, s.hold)
	if err != nil {
		return Reservation{}, err
	}
	r := Reservation{OrderID: id, State: Held, Lines: lines}
	counts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Count, err error) {
		return c, row.Scan(&c.SKU, &c.Available, &c.Version, &c.AsOf, &r.ExpiresAt)
	})
	if err != nil || len(counts) == 0 {
		return Reservation{}, err
	}
	s.moved(counts)
	r.ExpiresAt, r.Moved = r.ExpiresAt.UTC(), true
	return r, nil
}

// explain finds out why nothing was reserved: the order has its reservation
// already, or the stock is short. Both questions travel in one batch, the
// reservation first, so that a twin that takes the last item in between is seen.
func (s *store) explain(ctx context.Context, id uuid.UUID, lines []Line) (Reservation, error) {
	var found Reservation
	var foundErr error
	available := make(map[int32]int32, len(lines))
	skus, _ := columns(lines)

	var batch pgx.Batch
	batch.Queue(findReservation, id).QueryRow(func(row pgx.Row) error {
		found, foundErr = scanReservation(row)
		return nil
	})
	batch.Queue(findCounters, skus).Query(func(rows pgx.Rows) error {
		var sku, left int32
		_, err := pgx.ForEachRow(rows, []any{&sku, &left}, func() error {
			available[sku] = left
			return nil
		})
		return err
	})
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return Reservation{}, err
	}
	switch {
	case errors.Is(foundErr, ErrNotFound):
		return Reservation{}, refuse(lines, available)
	case foundErr != nil:
		return Reservation{}, foundErr
	}
	return found.replay(lines)
}
