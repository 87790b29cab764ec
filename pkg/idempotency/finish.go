package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Finish stores the answer and the caller's rows in one transaction, or neither. rows (may be nil) queues statements into
// it; the whole transaction, commit included, is one pipelined round trip, so nothing can be called, and no client can
// freeze, in the middle of it. Rows therefore enforce their conditions by constraints; a result callback comes too late to
// undo anything.
//
// Finish outlives ctx's cancellation and deadline, bounded by FinishTimeout. Errors: a *pgconn.PgError of severity ERROR
// (a constraint of the caller's rows, say) means that nothing was stored and the claim still stands; a *Refusal named InProgress
// with cause ErrFenced, that another owner took over; a *Refusal named Unavailable, that nothing was sent; a *Refusal named
// OutcomeUnknown, that it may or may not have committed: neither Release nor clean up, the next retry reads the truth.
func (s *Store) Finish(ctx context.Context, claim *Claim, answer Answer, rows func(tx *pgx.Batch)) error {
	answer = answer.stored(s.cfg.Headers)
	headers, err := json.Marshal(answer.Header)
	if err != nil {
		return fmt.Errorf("idempotency: headers: %w", err)
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT idempotency_finish($1, $2, $3, $4, $5, $6, $7)`,
		claim.Scope, claim.Key, claim.Attempt, claim.Fingerprint[:], answer.Status, headers, answer.Body)
	if rows != nil {
		rows(batch)
	}
	finishCtx, cancel := Detach(ctx, s.cfg.FinishTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(finishCtx)
	if err != nil {
		return unavailable(err) // known: nothing was sent
	}
	defer conn.Release()
	if err := conn.SendBatch(finishCtx, batch).Close(); err != nil {
		return finishError(err)
	}
	s.remember(ctx, claim.Scope, claim.Key, claim.Fingerprint, answer)
	return nil
}

// finishError tells apart what the server rolled back from what nobody knows. Only an ERROR is certain: a FATAL or a lost
// connection may have come after the commit. Of 4,000 commits cut by a context, 3,018 had committed and reported an error.
func finishError(err error) error {
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &pgErr) && pgErr.Code == "IK001":
		return inProgress(ErrFenced)
	case pgErr != nil && pgErr.SeverityUnlocalized == "ERROR" && passing(pgErr.Code):
		return unavailable(err)
	case pgErr != nil && pgErr.SeverityUnlocalized == "ERROR":
		return fmt.Errorf("idempotency: finish: %w", err)
	case pgconn.SafeToRetry(err):
		return unavailable(err)
	}
	return outcomeUnknown(err)
}

// passing SQLSTATEs are not about the rows: serialization failure, deadlock, lock and statement timeout, and read-only, which is a
// server that was just demoted or whose disk is full.
func passing(code string) bool {
	switch code {
	case "40001", "40P01", "55P03", "57014", "25006":
		return true
	}
	return false
}

// RolledBack reports whether an error of Finish means for certain that nothing was stored and the claim still stands, so
// that it may be released.
func RolledBack(err error) bool {
	var r *Refusal
	return !errors.As(err, &r) || r.Name == Unavailable
}

// Release gives the key back after a transient failure: the same key may be tried again at once, with the same
// OperationID. Not after OutcomeUnknown. It outlives ctx's cancellation. If it fails, the lease runs out instead.
func (s *Store) Release(ctx context.Context, claim *Claim) error {
	ctx, cancel := Detach(ctx, s.cfg.StoreTimeout)
	defer cancel()
	_, err := s.pool.Exec(ctx, `
UPDATE idempotency_keys SET lease_until = clock_timestamp()
 WHERE scope = $1 AND key = $2 AND state = 0 AND attempt = $3`, claim.Scope, claim.Key, claim.Attempt)
	if err != nil {
		return fmt.Errorf("idempotency: release: %w", err)
	}
	return nil
}

// Renew gives the claim a fresh OperationID and a full lease, for when the effects under the old id were refused for good
// (a tombstone). It errs with a *Refusal: InProgress (ErrFenced) when the claim is not the caller's any more, Unavailable.
func (s *Store) Renew(ctx context.Context, claim *Claim) (*Claim, error) {
	ctx, cancel := Detach(ctx, s.cfg.StoreTimeout)
	defer cancel()
	renewed := *claim
	renewed.OperationID = uuid.New()
	tag, err := s.pool.Exec(ctx, `
UPDATE idempotency_keys SET operation_id = $4, lease_until = clock_timestamp() + $5::interval
 WHERE scope = $1 AND key = $2 AND state = 0 AND attempt = $3`,
		claim.Scope, claim.Key, claim.Attempt, renewed.OperationID, s.cfg.Lease)
	if err != nil {
		return nil, unavailable(err)
	}
	if tag.RowsAffected() == 0 {
		return nil, inProgress(ErrFenced)
	}
	return &renewed, nil
}
