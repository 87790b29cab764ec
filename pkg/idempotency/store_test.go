package idempotency

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const someKey = "k-0123456789abcdef"

func refusal(t *testing.T, err error, name string) *Refusal {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || r.Name != name {
		t.Fatalf("error = %v, want the refusal %s", err, name)
	}
	return r
}

func TestFirstUseExecutesAndReplaysAreEqual(t *testing.T) {
	var results []Result
	s, pool := newStore(t, Config{Observe: func(r Result) { results = append(results, r) }})
	req := request(t, someKey, "49.99 EUR")
	claim := mustClaim(t, s, req)
	if claim.Attempt != 1 || string(claim.Payload) != "49.99 EUR" {
		t.Errorf("claim = %+v, want attempt 1 with its payload", claim)
	}
	if err := s.Finish(t.Context(), claim, created(`{"id":1}`), effect(claim, "paid")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got := mustReplay(t, s, req)
		if got.Status != 201 || !bytes.Equal(got.Body, []byte(`{"id":1}`)) || !got.Replayed || got.Header.Get("Location") != "/payments/1" {
			t.Errorf("replay = %+v, want the stored answer", got)
		}
		if got.Header.Get("Set-Cookie") != "" {
			t.Error("a header outside the allow-list was replayed")
		}
	}
	if n := count(t, pool, "effects"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	if want := []Result{ResultNew, ResultReplayed, ResultReplayed, ResultReplayed}; len(results) != 4 || results[0] != want[0] || results[3] != want[3] {
		t.Errorf("observed %v, want %v", results, want)
	}
}

func TestRefusalsAreFinalAnswersToo(t *testing.T) {
	s, _ := newStore(t, Config{})
	req := request(t, someKey, "declined")
	if err := s.Finish(t.Context(), mustClaim(t, s, req), Answer{Status: 422, Body: []byte("declined")}, nil); err != nil {
		t.Fatal(err)
	}
	if got := mustReplay(t, s, req); got.Status != 422 || string(got.Body) != "declined" {
		t.Errorf("replay = %+v, want the stored 422", got)
	}
}

func TestOtherPayloadIsRefusedInEveryState(t *testing.T) {
	s, pool := newStore(t, Config{})
	req, other := request(t, someKey, "49.99"), request(t, someKey, "999.00")
	claim := mustClaim(t, s, req)
	check := func(state string) {
		t.Helper()
		_, _, err := s.Claim(t.Context(), other)
		if r := refusal(t, err, KeyReused); r.Status != 422 || r.RetryAfter != 0 {
			t.Errorf("%s: refusal = %+v, want a 422 that is not worth repeating", state, r)
		}
	}
	check("in flight")
	expire(t, pool)
	check("abandoned")
	if err := s.Finish(t.Context(), claim, created("{}"), nil); err != nil {
		t.Fatal(err)
	}
	check("done")
}

func TestScopesAreIndependent(t *testing.T) {
	s, _ := newStore(t, Config{})
	alice := request(t, someKey, "x")
	mallory, refund := alice, alice
	mallory.Scope, refund.Scope = Scope("POST /payments", "mallory"), Scope("POST /refunds", "alice")
	if err := s.Finish(t.Context(), mustClaim(t, s, alice), created("alice's receipt"), nil); err != nil {
		t.Fatal(err)
	}
	mustClaim(t, s, mallory)
	mustClaim(t, s, refund)
}

func TestTwinInFlightIsRefusedWithRetryAfter(t *testing.T) {
	s, _ := newStore(t, Config{})
	req := request(t, someKey, "x")
	mustClaim(t, s, req)
	_, _, err := s.Claim(t.Context(), req)
	if r := refusal(t, err, InProgress); r.Status != 409 || r.RetryAfter != time.Second {
		t.Errorf("refusal = %+v, want 409 with Retry-After 1 s", r)
	}
}

func TestTwinInFlightIsWaitedFor(t *testing.T) {
	s, _ := newStore(t, Config{Wait: time.Minute})
	req := request(t, someKey, "x")
	claim := mustClaim(t, s, req)
	replay := make(chan *Answer)
	go func() {
		_, a, err := s.Claim(t.Context(), req)
		if err != nil {
			t.Error(err)
		}
		replay <- a
	}()
	if err := s.Finish(t.Context(), claim, created("done"), nil); err != nil {
		t.Fatal(err)
	}
	if a := <-replay; a == nil || string(a.Body) != "done" {
		t.Errorf("the twin got %+v, want the first one's answer", a)
	}
}

func TestFiftyConcurrentTwinsExecuteOnce(t *testing.T) {
	s, pool := newStore(t, Config{Wait: time.Minute})
	req := request(t, someKey, "x")
	var executed sync.Map
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			claim, replay, err := s.Claim(t.Context(), req)
			if err != nil {
				t.Error(err)
				return
			}
			if replay != nil {
				if string(replay.Body) != "done" {
					t.Errorf("replay = %q", replay.Body)
				}
				return
			}
			executed.Store(claim.OperationID, true)
			if err := s.Finish(t.Context(), claim, created("done"), effect(claim, "once")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := count(t, pool, "effects"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

func TestCrashedOwnerIsReplacedAfterItsLease(t *testing.T) {
	s, pool := newStore(t, Config{})
	req := request(t, someKey, "x")
	first := mustClaim(t, s, req)
	expire(t, pool)
	second := mustClaim(t, s, req)
	if second.OperationID != first.OperationID || second.Attempt != 2 {
		t.Errorf("heir = %+v, want the operation id of %+v and attempt 2", second, first)
	}
	// The frozen first owner wakes up: fenced, and nothing of it is stored.
	err := s.Finish(t.Context(), first, created("first"), effect(first, "late"))
	if refusal(t, err, InProgress); !errors.Is(err, ErrFenced) || RolledBack(err) {
		t.Errorf("late finish: %v, want ErrFenced and no permission to release", err)
	}
	if err := s.Release(t.Context(), first); err != nil { // a fenced owner's release must not free the heir's key
		t.Fatal(err)
	}
	_, _, err = s.Claim(t.Context(), req)
	refusal(t, err, InProgress)
	if _, err := s.Renew(t.Context(), first); !errors.Is(err, ErrFenced) {
		t.Errorf("late renew: %v, want ErrFenced", err)
	}
	if n := count(t, pool, "effects"); n != 0 {
		t.Errorf("%d effects of the fenced owner", n)
	}
	if err := s.Finish(t.Context(), second, created("second"), effect(second, "heir")); err != nil {
		t.Fatal(err)
	}
	if got := mustReplay(t, s, req); string(got.Body) != "second" {
		t.Errorf("replay = %q, want the heir's", got.Body)
	}
}

func TestReleaseLetsTheSameKeyTryAgainAtOnce(t *testing.T) {
	s, _ := newStore(t, Config{})
	req := request(t, someKey, "x")
	first := mustClaim(t, s, req)
	if err := s.Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if second := mustClaim(t, s, req); second.OperationID != first.OperationID || second.Attempt != 2 {
		t.Errorf("second claim = %+v, want operation id %s, attempt 2", second, first.OperationID)
	}
}

func TestReleaseOutlivesItsClient(t *testing.T) {
	s, _ := newStore(t, Config{})
	req := request(t, someKey, "x")
	claim := mustClaim(t, s, req)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Release(ctx, claim); err != nil {
		t.Fatalf("release on a dead client's context: %v", err)
	}
	mustClaim(t, s, req)
}

// TestAnswersAreStoredOnce: an owner that finishes twice, or releases behind its finish, changes nothing any more. Somebody may
// have been told the first answer.
func TestAnswersAreStoredOnce(t *testing.T) {
	s, pool := newStore(t, Config{})
	req := request(t, someKey, "x")
	claim := mustClaim(t, s, req)
	if err := s.Finish(t.Context(), claim, created("first"), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), claim, created("second"), effect(claim, "twice")); !errors.Is(err, ErrFenced) {
		t.Errorf("second finish: %v, want ErrFenced", err)
	}
	if err := s.Release(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if got := mustReplay(t, s, req); string(got.Body) != "first" || count(t, pool, "effects") != 0 {
		t.Errorf("replay = %q, %d effects, want the first finish and nothing else", got.Body, count(t, pool, "effects"))
	}
}

func TestRenewGivesAFreshOperation(t *testing.T) {
	s, _ := newStore(t, Config{})
	req := request(t, someKey, "x")
	first := mustClaim(t, s, req)
	renewed, err := s.Renew(t.Context(), first)
	if err != nil || renewed.OperationID == first.OperationID || renewed.Attempt != first.Attempt {
		t.Fatalf("Renew = %+v, %v", renewed, err)
	}
	if err := s.Finish(t.Context(), renewed, created("x"), nil); err != nil {
		t.Fatal(err)
	}
	rec, found, err := s.Lookup(t.Context(), req.Scope, req.Key)
	if err != nil || !found || !rec.Done || rec.OperationID != renewed.OperationID {
		t.Errorf("Lookup = %+v, %v, %v", rec, found, err)
	}
}

func TestFinishStoresAllOrNothing(t *testing.T) {
	s, pool := newStore(t, Config{})
	req := request(t, someKey, "x")
	claim := mustClaim(t, s, req)
	err := s.Finish(t.Context(), claim, created("x"), effect(claim, "forbidden"))
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "23514" || !RolledBack(err) {
		t.Fatalf("error = %v, want the check violation, known to be rolled back", err)
	}
	if rec, _, err := s.Lookup(t.Context(), req.Scope, req.Key); err != nil || rec.Done {
		t.Errorf("the answer of a rolled back effect was stored: %+v, %v", rec, err)
	}
	// The claim still stands: the same owner may finish otherwise.
	if err := s.Finish(t.Context(), claim, created("y"), effect(claim, "fine")); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, "effects"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

func TestFinishOutlivesItsClient(t *testing.T) {
	s, _ := newStore(t, Config{})
	req := request(t, someKey, "x")
	ctx, cancel := context.WithCancel(t.Context())
	claim, _, err := s.Claim(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Finish(ctx, claim, created("x"), nil); err != nil {
		t.Fatalf("finish on a dead client's context: %v", err)
	}
	mustReplay(t, s, req)
}

func TestDeadClientClaimsNothing(t *testing.T) {
	s, pool := newStore(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Claim(ctx, request(t, someKey, "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	if n := count(t, pool, "idempotency_keys"); n != 0 {
		t.Errorf("%d keys claimed for a dead client", n)
	}
}

func TestTakeOverFindsOnlyTheAbandoned(t *testing.T) {
	s, pool := newStore(t, Config{})
	abandoned := mustClaim(t, s, request(t, "abandoned-0123456789", "a"))
	expire(t, pool)
	mustClaim(t, s, request(t, "working-0123456789", "b"))
	done := mustClaim(t, s, request(t, "done-0123456789", "c"))
	if err := s.Finish(t.Context(), done, created("c"), nil); err != nil {
		t.Fatal(err)
	}
	if claims, err := s.TakeOver(t.Context(), time.Hour, 10); err != nil || len(claims) != 0 {
		t.Errorf("TakeOver within the grace = %v, %v, want nothing", claims, err)
	}
	claims, err := s.TakeOver(t.Context(), time.Second, 10)
	if err != nil || len(claims) != 1 {
		t.Fatalf("TakeOver = %v, %v, want the abandoned one", claims, err)
	}
	got := claims[0]
	if got.OperationID != abandoned.OperationID || got.Attempt != 2 || string(got.Payload) != "a" || got.Fingerprint != abandoned.Fingerprint {
		t.Errorf("taken over = %+v, want attempt 2 of %+v", got, abandoned)
	}
	if again, err := s.TakeOver(t.Context(), 0, 10); err != nil || len(again) != 0 {
		t.Errorf("a second job took over %v, %v, want nothing: the lease is new", again, err)
	}
}

func TestReapDeletesOldAnswersAndNothingElse(t *testing.T) {
	s, pool := newStore(t, Config{})
	for _, key := range []string{"old-0123456789abcdef", "young-0123456789abcdef"} {
		if err := s.Finish(t.Context(), mustClaim(t, s, request(t, key, key)), created(key), nil); err != nil {
			t.Fatal(err)
		}
	}
	mustClaim(t, s, request(t, "claimed-0123456789abcdef", "x"))
	if _, err := pool.Exec(t.Context(), `UPDATE idempotency_keys SET created_at = now() - interval '3 days', lease_until = now() - interval '3 days',
	finished_at = CASE WHEN key LIKE 'old%' THEN now() - interval '25 hours' ELSE finished_at END`); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Reap(t.Context()); n != 1 || err != nil {
		t.Fatalf("Reap = %d, %v, want 1", n, err)
	}
	if _, found, err := s.Lookup(t.Context(), Scope("POST /payments", "alice"), "old-0123456789abcdef"); found || err != nil {
		t.Errorf("the old key is still there: %v", err)
	}
	if n := count(t, pool, "idempotency_keys"); n != 2 {
		t.Errorf("%d keys left, want 2", n)
	}
}

func TestNewRefusesImpossibleSettings(t *testing.T) {
	_, pool := newStore(t, Config{})
	if _, err := New(nil, Config{}); err == nil {
		t.Error("no pool was accepted")
	}
	for name, c := range map[string]struct {
		cfg  Config
		want string // a part of the error; "" = accepted
	}{
		"defaults":                        {Config{}, ""},
		"short lease, budget by default":  {Config{Lease: 3 * time.Second}, ""},
		"lease just above both":           {Config{Lease: 6*time.Second + 1, Budget: 4 * time.Second}, ""},
		"lease equal to both":             {Config{Lease: 6 * time.Second, Budget: 4 * time.Second}, "lease 6s must exceed budget 4s + finish timeout 2s"},
		"lease equal to the finish":       {Config{Lease: 2 * time.Second}, "lease 2s must exceed"},
		"lease shorter than the finish":   {Config{Lease: time.Second, FinishTimeout: 2 * time.Second}, "lease 1s must exceed"},
		"budget that default lease lacks": {Config{Budget: 8 * time.Second}, "lease 10s must exceed"},
		"negative budget":                 {Config{Budget: -time.Second}, "budget -1s is negative"},
		"negative age":                    {Config{Keep: -time.Second}, "keep -1s is negative"},
	} {
		_, err := New(pool, c.cfg)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want %q", name, err, c.want)
		}
	}
}
