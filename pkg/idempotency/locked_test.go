package idempotency

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// hold runs sql and keeps its locks until release.
func hold(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (release func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) { // t.Context() may be over
			t.Error(err)
		}
	}
}

// holdKey is a twin whose insert has not committed: a claim of the same key has to wait for it.
func holdKey(t *testing.T, pool *pgxpool.Pool, req Request) (release func()) {
	t.Helper()
	return hold(t, pool, `INSERT INTO idempotency_keys (scope, key, fingerprint, operation_id, lease_until) VALUES ($1, $2, $3, gen_random_uuid(), now())`,
		req.Scope, req.Key, req.Fingerprint[:])
}

// waitBlocked returns when a statement waits for a lock.
func waitBlocked(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var blocked bool
		if err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&blocked); err != nil {
			t.Fatal(err)
		}
		if blocked {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing waits for a lock")
		}
	}
}

// A claim that is cut off may stand in Postgres with nobody working for it, and costs the pool its connection.
func TestClaimOnceBegunOutlivesItsClient(t *testing.T) {
	s, pool := newStore(t, Config{})
	req := request(t, someKey, "x")
	release := holdKey(t, pool, req)
	defer release()
	ctx, hangUp := context.WithCancel(t.Context())
	type result struct {
		claim *Claim
		err   error
	}
	done := make(chan result)
	go func() {
		claim, _, err := s.Claim(ctx, req)
		done <- result{claim, err}
	}()
	waitBlocked(t, pool)
	hangUp()
	release()
	if got := <-done; got.err != nil || got.claim == nil {
		t.Fatalf("Claim = %v, %v, want the claim that stands in Postgres", got.claim, got.err)
	}
	if n := count(t, pool, "idempotency_keys"); n != 1 {
		t.Errorf("%d keys, want 1", n)
	}
}

func TestClaimKeepsItsClientsDeadline(t *testing.T) {
	s, pool := newStore(t, Config{StoreTimeout: 10 * time.Second, FinishTimeout: time.Minute, Lease: time.Hour})
	req := request(t, someKey, "x")
	defer holdKey(t, pool, req)()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, _, err := s.Claim(ctx, req)
	if refusal(t, err, Unavailable); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want the deadline", err)
	}
	if took := time.Since(began); took >= 10*time.Second {
		t.Errorf("Claim took %s of a client that had 300 ms", took)
	}
}

// A row that another job, or a claim, is at work on must not stop the others from being found.
func TestTakeOverPassesByLockedKeys(t *testing.T) {
	s, pool := newStore(t, Config{})
	mustClaim(t, s, request(t, "locked-0123456789", "a"))
	free := mustClaim(t, s, request(t, "free-0123456789", "b"))
	expire(t, pool)
	defer hold(t, pool, `SELECT FROM idempotency_keys WHERE key = 'locked-0123456789' FOR UPDATE`)()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	claims, err := s.TakeOver(ctx, time.Second, 10)
	if err != nil || len(claims) != 1 || claims[0].Key != free.Key {
		t.Errorf("TakeOver = %v, %v, want the key that nobody has locked", claims, err)
	}
}
