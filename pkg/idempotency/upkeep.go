package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// TakeOver claims up to limit keys whose lease ran out longer than grace ago, oldest first, for a job that completes what
// crashed owners left. Work on all of them at once: their leases start now. Safe with many such jobs (SKIP LOCKED).
func (s *Store) TakeOver(ctx context.Context, grace time.Duration, limit int) ([]*Claim, error) {
	rows, err := s.pool.Query(ctx, `
UPDATE idempotency_keys AS k SET attempt = k.attempt + 1, lease_until = clock_timestamp() + $3::interval
  FROM (SELECT scope, key FROM idempotency_keys
         WHERE state = 0 AND lease_until < clock_timestamp() - $1::interval
         ORDER BY lease_until LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
 WHERE k.scope = due.scope AND k.key = due.key
RETURNING k.scope, k.key, k.fingerprint, k.operation_id, k.attempt, k.request`, grace, limit, s.cfg.Lease)
	if err != nil {
		return nil, fmt.Errorf("idempotency: take over: %w", err)
	}
	claims, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Claim, error) {
		var c Claim
		var sum []byte
		if err := row.Scan(&c.Scope, &c.Key, &sum, &c.OperationID, &c.Attempt, &c.Payload); err != nil {
			return nil, err
		}
		c.Fingerprint = Fingerprint(sum)
		return &c, nil
	})
	if err != nil {
		return nil, fmt.Errorf("idempotency: take over: %w", err)
	}
	return claims, nil
}

// reapBatch keeps each delete short: it competes with claims for the same table.
const reapBatch = 500

// Reap deletes finished keys older than Keep, in batches, and says how many. Claimed keys are never reaped: deleting one
// would forget its OperationID, and with it what may already have happened under that id. Safe to run in many processes.
func (s *Store) Reap(ctx context.Context) (int64, error) {
	var total int64
	for {
		tag, err := s.pool.Exec(ctx, `
DELETE FROM idempotency_keys WHERE (scope, key) IN (
    SELECT scope, key FROM idempotency_keys
     WHERE state = 1 AND finished_at < clock_timestamp() - $1::interval
     ORDER BY finished_at LIMIT $2 FOR UPDATE SKIP LOCKED)`, s.cfg.Keep, reapBatch)
		if err != nil {
			return total, fmt.Errorf("idempotency: reap: %w", err)
		}
		total += tag.RowsAffected()
		if tag.RowsAffected() < reapBatch {
			return total, nil
		}
	}
}
