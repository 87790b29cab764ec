package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/resilience"
)

// leaseDue moves the next look at each hold it returns: 2 s, then 4, 8 and 10.
// That is the lease (asking takes at most a second, and a sweeper that dies is
// replaced by the next one to look) and the back-off in one write. Ten seconds
// at most, because everything is to be settled 15 s after a fault ends.
const leaseDue = `
UPDATE reservations r SET sweeps = sweeps + 1, sweep_at = now() + least(interval '2 s' * 2 ^ least(sweeps, 8), interval '10 s')
FROM (SELECT id FROM reservations WHERE state = 'held' AND sweep_at <= now()
      ORDER BY sweep_at LIMIT $1 FOR UPDATE SKIP LOCKED) due
WHERE r.id = due.id RETURNING r.id`

// LeaseDue returns up to limit holds whose time is up and keeps other sweepers
// off them for a while. No order is promised.
func (s *store) LeaseDue(ctx context.Context, limit int) ([]uuid.UUID, error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) ([]uuid.UUID, error) {
		rows, err := s.db.Query(ctx, leaseDue, limit)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	})
}

// Counts reads every item for the snapshot's pass. now() is the transaction's
// start, before the statement's own view: AsOf is never too young.
func (s *store) Counts(ctx context.Context) ([]Count, error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) ([]Count, error) {
		rows, err := s.db.Query(ctx, `SELECT sku, on_hand - reserved, version, now() FROM items ORDER BY sku`)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToStructByPos[Count])
	})
}

// Beat writes the primary's clock for the replica to replay, and returns it.
// clock_timestamp() is taken before the commit: whoever sees the beat sees all that
// was committed before it.
func (s *store) Beat(ctx context.Context) (at time.Time, err error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) (at time.Time, err error) {
		err = s.db.QueryRow(ctx, `INSERT INTO heartbeat (at) VALUES (clock_timestamp())
			ON CONFLICT (id) DO UPDATE SET at = excluded.at RETURNING at`).Scan(&at)
		return at, err
	})
}
