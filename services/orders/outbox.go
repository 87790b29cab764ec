package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
)

// due leases up to limit events of a kind, oldest due first. Another relay skips them while they are locked, and does not
// see them while they are leased; should this one die, they are due again when the lease ends.
func (s *store) due(ctx context.Context, kind string, limit int) ([]event, error) {
	return resilience.Call(ctx, s.postgres, func(ctx context.Context) ([]event, error) {
		rows, err := s.pool.Query(ctx, `
UPDATE outbox SET attempts = attempts + 1, next_at = clock_timestamp() + $3::interval
 WHERE id IN (SELECT id FROM outbox
               WHERE kind = $1 AND done_at IS NULL AND parked_at IS NULL AND next_at <= clock_timestamp()
               ORDER BY next_at LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING id, event_id, order_id, payload, attempts, refusals`, kind, limit, relayLease)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToStructByPos[event])
	})
}

// settle writes down what became of leased events, all in one round trip. A delivery counts whoever made it; a failure only while the
// lease is still ours (attempts). It outlives ctx: what was delivered before a shutdown need not be sent again.
func (s *store) settle(ctx context.Context, verdicts []verdict) error {
	ctx, cancel := idempotency.Detach(ctx, 2*time.Second)
	defer cancel()
	batch := &pgx.Batch{}
	for _, v := range verdicts {
		switch v.result {
		case delivered:
			batch.Queue(`UPDATE outbox SET done_at = clock_timestamp(), parked_at = NULL, last_error = NULL WHERE id = $1 AND done_at IS NULL`, v.ID)
		case parked:
			batch.Queue(`UPDATE outbox SET parked_at = clock_timestamp(), refusals = $3, last_error = $4 WHERE id = $1 AND attempts = $2 AND done_at IS NULL`,
				v.ID, v.Attempts, v.Refusals, v.err.Error())
		default:
			batch.Queue(`
UPDATE outbox SET next_at = clock_timestamp() + $3::interval, refusals = $4, last_error = $5 WHERE id = $1 AND attempts = $2 AND done_at IS NULL`,
				v.ID, v.Attempts, v.after, v.Refusals, v.err.Error())
		}
	}
	return resilience.Do(ctx, s.postgres, func(ctx context.Context) error { return s.pool.SendBatch(ctx, batch).Close() })
}

// backlog counts the events that wait, and those that were parked, by kind.
func (s *store) backlog(ctx context.Context) (waiting, parked map[string]int, err error) {
	waiting, parked = map[string]int{}, map[string]int{}
	return waiting, parked, resilience.Do(ctx, s.postgres, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `
SELECT kind, count(*) FILTER (WHERE parked_at IS NULL), count(*) FILTER (WHERE parked_at IS NOT NULL)
  FROM outbox WHERE done_at IS NULL GROUP BY kind`)
		if err != nil {
			return err
		}
		var kind string
		var w, p int
		_, err = pgx.ForEachRow(rows, []any{&kind, &w, &p}, func() error { waiting[kind], parked[kind] = w, p; return nil })
		return err
	})
}

// reap deletes delivered events older than keep, in short batches.
func (s *store) reap(ctx context.Context, keep time.Duration) error {
	const batch = 500
	for {
		tag, err := s.pool.Exec(ctx, `
DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE done_at < clock_timestamp() - $1::interval LIMIT $2 FOR UPDATE SKIP LOCKED)`, keep, batch)
		if err != nil || tag.RowsAffected() < batch {
			return err
		}
	}
}
