package idempotency

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"watertight.example/pkg/storetest"
)

func TestLostCommitAnswerIsAnUnknownOutcome(t *testing.T) {
	url := storetest.Postgres(t)
	proxy := newCutter(t, url)
	s, _ := storeAt(t, proxy.url, Config{})
	req := request(t, someKey, "x")
	claim := mustClaim(t, s, req)
	warm(t, s) // so that the cut hits the commit and not the preparation of its statements
	proxy.cut.Store(true)
	err := s.Finish(t.Context(), claim, created("x"), nil)
	if r := refusal(t, err, OutcomeUnknown); r.Status != 503 || r.RetryAfter == 0 || RolledBack(err) {
		t.Fatalf("refusal = %+v, want a 503 worth repeating, and no permission to release", r)
	}
	proxy.cut.Store(false)
	// It had committed: the retry reads the truth.
	if got := mustReplay(t, s, req); string(got.Body) != "x" {
		t.Errorf("replay = %q", got.Body)
	}
}

// warm runs a whole cycle, so that the one idle connection of the pool has every statement prepared.
func warm(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Finish(t.Context(), mustClaim(t, s, request(t, "warm-0123456789abcdef", "w")), created("w"), nil); err != nil {
		t.Fatal(err)
	}
}

func TestNoPostgresNoAcceptance(t *testing.T) {
	s, pool := newStore(t, Config{})
	claim := mustClaim(t, s, request(t, someKey, "x"))
	pool.Close()
	_, _, err := s.Claim(t.Context(), request(t, "other-0123456789abcdef", "x"))
	if r := refusal(t, err, Unavailable); r.Status != 503 || r.RetryAfter == 0 {
		t.Errorf("claim: %+v, want a 503 with Retry-After", r)
	}
	if err := s.Finish(t.Context(), claim, created("x"), nil); !RolledBack(err) {
		t.Errorf("finish: %v, want the certainty that nothing was sent", err)
	}
	_, _, err = s.Lookup(t.Context(), "POST /x a", someKey)
	refusal(t, err, Unavailable)
}

func TestReadOnlyPostgresIsUnavailable(t *testing.T) {
	s, pool := newStore(t, Config{})
	if _, err := pool.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`); err != nil {
		t.Fatal(err)
	}
	pool.Reset()
	_, _, err := s.Claim(t.Context(), request(t, someKey, "x"))
	refusal(t, err, Unavailable)
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "25006" {
		t.Errorf("cause = %v, want 25006", err)
	}
}

func TestFinishErrorsAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		err        error
		want       string // name of the refusal; "" = the raw error
		rolledBack bool
	}{
		"fenced":                {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "IK001"}, InProgress, false},
		"unique violation":      {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "23505"}, "", true},
		"deadlock":              {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40P01"}, Unavailable, true},
		"statement timeout":     {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "57014"}, Unavailable, true},
		"read-only":             {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "25006"}, Unavailable, true},
		"terminated at commit":  {&pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, OutcomeUnknown, false},
		"deadline":              {context.DeadlineExceeded, OutcomeUnknown, false},
		"connection lost":       {errors.New("unexpected EOF"), OutcomeUnknown, false},
		"provably nothing sent": {unsent{}, Unavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := finishError(c.err)
			if RolledBack(err) != c.rolledBack {
				t.Errorf("RolledBack(%v) = %v", err, !c.rolledBack)
			}
			if c.want != "" {
				refusal(t, err, c.want)
			} else if r := (*Refusal)(nil); errors.As(err, &r) {
				t.Errorf("error = %v, want it raw", err)
			}
		})
	}
}

type unsent struct{}

func (unsent) Error() string     { return "not sent" }
func (unsent) SafeToRetry() bool { return true }

func TestCacheReplaysWithoutPostgres(t *testing.T) {
	cache := &memory{values: map[string][]byte{}}
	s, pool := newStore(t, Config{Cache: cache})
	req := request(t, someKey, "x")
	if err := s.Finish(t.Context(), mustClaim(t, s, req), created("x"), nil); err != nil {
		t.Fatal(err)
	}
	pool.Close()
	if got := mustReplay(t, s, req); got.Status != 201 || string(got.Body) != "x" || got.Header.Get("Location") == "" || got.Header.Get("Set-Cookie") != "" {
		t.Errorf("cached replay = %+v", got)
	}
	// Another payload, and another tenant's request with the same key, are for Postgres to decide, which is away.
	_, _, err := s.Claim(t.Context(), request(t, someKey, "y"))
	refusal(t, err, Unavailable)
	other := req
	other.Scope = Scope("POST /payments", "mallory")
	_, _, err = s.Claim(t.Context(), other)
	refusal(t, err, Unavailable)
}

// TestCacheKeepsScopeAndKeyApart moves the border between the two: the same characters, another tenant's key.
func TestCacheKeepsScopeAndKeyApart(t *testing.T) {
	cache := &memory{values: map[string][]byte{}}
	s, pool := newStore(t, Config{Cache: cache})
	req := request(t, someKey, "x")
	if err := s.Finish(t.Context(), mustClaim(t, s, req), created("alice's receipt"), nil); err != nil {
		t.Fatal(err)
	}
	pool.Close() // what is answered now comes from the cache
	other := req
	other.Scope, other.Key = req.Scope+req.Key[:1], req.Key[1:]
	_, _, err := s.Claim(t.Context(), other)
	refusal(t, err, Unavailable)
}

func TestLosingTheCacheChangesNoResult(t *testing.T) {
	cache := &memory{values: map[string][]byte{}}
	s, pool := newStore(t, Config{Cache: cache})
	req := request(t, someKey, "x")
	for _, lose := range []func(){
		func() { clear(cache.values) },       // flushed
		func() { cache.broken.Store(true) },  // stopped
		func() { cache.broken.Store(false) }, // restarted empty
		func() {
			for k := range cache.values {
				cache.values[k] = []byte("{garbage")
			}
		},
		func() {
			for k := range cache.values {
				cache.values[k] = []byte(`{}`)
			}
		},
	} {
		claim, replay, err := s.Claim(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if claim != nil {
			if err := s.Finish(t.Context(), claim, created("x"), effect(claim, "once")); err != nil {
				t.Fatal(err)
			}
		} else if string(replay.Body) != "x" {
			t.Errorf("replay = %q", replay.Body)
		}
		lose()
		_, _, err = s.Claim(t.Context(), request(t, someKey, "y"))
		refusal(t, err, KeyReused)
		mustReplay(t, s, req)
	}
	if n := count(t, pool, "effects"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}
