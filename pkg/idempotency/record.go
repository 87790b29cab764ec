package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Record is what the store knows about a key.
type Record struct {
	Fingerprint Fingerprint
	OperationID uuid.UUID
	Attempt     int
	Abandoned   bool // not Done, and its owner's lease has run out
	Done        bool
	Answer      Answer // when Done; Replayed is set
}

const readSQL = `
SELECT fingerprint, operation_id, state, attempt, state = 0 AND lease_until < clock_timestamp(), status, headers, body
  FROM idempotency_keys WHERE scope = $1 AND key = $2`

// Lookup reads a key without claiming it; found is false when it was never used, or reaped. The error is a *Refusal.
func (s *Store) Lookup(ctx context.Context, scope, key string) (rec Record, found bool, err error) {
	ctx, cancel := s.storeContext(ctx)
	defer cancel()
	rec, err = scanRecord(s.pool.QueryRow(ctx, readSQL, scope, key))
	if errors.Is(err, pgx.ErrNoRows) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, unavailable(err)
	}
	return rec, true, nil
}

func scanRecord(row pgx.Row) (Record, error) {
	var (
		rec     Record
		sum     []byte
		state   int
		status  *int
		headers []byte
	)
	if err := row.Scan(&sum, &rec.OperationID, &state, &rec.Attempt, &rec.Abandoned, &status, &headers, &rec.Answer.Body); err != nil {
		return Record{}, err
	}
	rec.Fingerprint = Fingerprint(sum) // 32 bytes, by a CHECK
	if rec.Done = state == 1; rec.Done {
		rec.Answer.Status, rec.Answer.Replayed = *status, true
		if err := json.Unmarshal(headers, &rec.Answer.Header); err != nil {
			return Record{}, fmt.Errorf("stored headers: %w", err)
		}
	}
	return rec, nil
}
