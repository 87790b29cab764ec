package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Claim is the right to execute one request: until the lease runs out nobody else does.
type Claim struct {
	Scope, Key  string
	Fingerprint Fingerprint
	OperationID uuid.UUID // stays the same when an abandoned key is taken over: use it as the id of every effect elsewhere
	Attempt     int       // fencing token: 1 for the first owner
	Payload     []byte    // the request as the first owner stored it
}

// One statement, hence one atomic decision: insert, or take over what lies abandoned, or touch nothing. It uses
// clock_timestamp(), not now(): it may have waited for a twin's row lock since it began.
const claimSQL = `
INSERT INTO idempotency_keys AS k (scope, key, fingerprint, operation_id, lease_until, request)
VALUES ($1, $2, $3, $4, clock_timestamp() + $5::interval, $6)
ON CONFLICT (scope, key) DO UPDATE SET attempt = k.attempt + 1, lease_until = clock_timestamp() + $5::interval
 WHERE k.state = 0 AND k.lease_until < clock_timestamp() AND k.fingerprint = excluded.fingerprint
RETURNING operation_id, attempt, request`

// Claim decides what a request with this key is: the first (or the heir of an abandoned one), which gets a claim;
// a repetition, which gets the stored answer; or one that is refused, with a *Refusal. Exactly one of the three is
// non-nil. It costs one round trip, plus one per look at a twin in flight, and holds no connection while it waits.
//
// A dead ctx claims nothing. Once begun, the statement outlives a cancelled ctx, not its deadline.
func (s *Store) Claim(ctx context.Context, req Request) (*Claim, *Answer, error) {
	claim, replay, result, err := s.claim(ctx, req)
	s.cfg.Observe(result)
	return claim, replay, err
}

func (s *Store) claim(ctx context.Context, req Request) (*Claim, *Answer, Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, ResultCanceled, unavailable(err)
	}
	if replay := s.recall(ctx, req); replay != nil {
		return nil, replay, ResultCached, nil
	}
	claim, rec, err := s.tryClaim(ctx, req)
	waitUntil := time.Now().Add(s.cfg.Wait)
	for pause := 20 * time.Millisecond; ; pause += 20 * time.Millisecond { // 20+40+60+80 = the default wait
		switch {
		case ctx.Err() != nil && claim == nil:
			return nil, nil, ResultCanceled, unavailable(ctx.Err())
		case err != nil:
			return nil, nil, ResultStoreError, unavailable(err)
		case claim != nil && claim.Attempt == 1:
			return claim, nil, ResultNew, nil
		case claim != nil:
			return claim, nil, ResultTakenOver, nil
		case rec.Fingerprint != req.Fingerprint: // before its state: whoever guesses a key learns nothing else
			return nil, nil, ResultMismatch, Reused()
		case rec.Done:
			s.remember(ctx, req.Scope, req.Key, rec.Fingerprint, rec.Answer)
			return nil, &rec.Answer, ResultReplayed, nil
		}
		left := time.Until(waitUntil)
		if left <= 0 {
			return nil, nil, ResultInFlight, inProgress(nil)
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(pause, left)):
		}
		claim, rec, err = s.look(ctx, req)
	}
}

// look asks what became of a twin. Only a key that lies abandoned is worth a claim, which locks and writes; fifty twins that
// wait for one answer just read.
func (s *Store) look(ctx context.Context, req Request) (*Claim, Record, error) {
	rec, found, err := s.Lookup(ctx, req.Scope, req.Key)
	if err == nil && (!found || rec.Abandoned) {
		return s.tryClaim(ctx, req)
	}
	return nil, rec, err
}

// tryClaim sends the claim and, behind it in the same round trip, the question what is there instead.
func (s *Store) tryClaim(ctx context.Context, req Request) (*Claim, Record, error) {
	ctx, cancel := s.storeContext(ctx)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue(claimSQL, req.Scope, req.Key, req.Fingerprint[:], uuid.New(), s.cfg.Lease, req.Payload)
	batch.Queue(readSQL, req.Scope, req.Key)
	results := s.pool.SendBatch(ctx, batch)
	defer results.Close()

	claim := &Claim{Scope: req.Scope, Key: req.Key, Fingerprint: req.Fingerprint}
	err := results.QueryRow().Scan(&claim.OperationID, &claim.Attempt, &claim.Payload)
	if err == nil {
		return claim, Record{}, results.Close() // the implicit transaction ends here: only now is it a claim
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return nil, Record{}, err
	}
	rec, err := scanRecord(results.QueryRow())
	return nil, rec, err
}

// storeContext is for statements that must not be cut by a client hanging up: same deadline, no cancellation. Cutting one costs
// the pool a connection, and a claim cut short may stand with nobody working for it.
func (s *Store) storeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	detached, cancel := Detach(ctx, s.cfg.StoreTimeout)
	if deadline, ok := ctx.Deadline(); ok {
		inner, cancelInner := context.WithDeadline(detached, deadline)
		return inner, func() { cancelInner(); cancel() }
	}
	return detached, cancel
}
