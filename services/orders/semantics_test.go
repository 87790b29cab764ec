package main

import (
	"net/http"
	"testing"
	"time"
)

// The rows of the semantics table that need a store in trouble, or a look at a header, over HTTP and against a real Postgres and Redis.
// The others are in placing_test.go, takeover_test.go and server_test.go.

// retryable is the answer that says: the same again, later.
func (s *shop) retryable(name, body string, status int, problem string) {
	s.t.Helper()
	a := s.order(name, body).is(s.t, status, problem)
	if a.header.Get("Retry-After") != "1" {
		s.t.Errorf("%s: Retry-After is %q, want 1", problem, a.header.Get("Retry-After"))
	}
	// What may still become an order has a place to look; so has what nobody knows of.
	where := a.header.Get("Location")
	if stands := s.count(`SELECT count(*) FROM idempotency_keys WHERE key = $1`, keyText(name)) == 1; stands && where != "/checkouts/"+keyText(name) {
		s.t.Errorf("%s: the key stands, and Location is %q", problem, where)
	}
}

func TestAMissingKeyPointsToItsDocs(t *testing.T) {
	s := open(t)
	a := s.do("POST", "/orders", s.pricing.body(Item{42, 1}), alice).is(t, 400, "idempotency-key-missing")
	if got := a.header.Get("Link"); got != `</problems/idempotency-key-missing>; rel="describedby"` {
		t.Errorf("Link: %q", got)
	}
}

func TestQuotedAndBareKeyAreOne(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	first := s.order("x", body).is(t, 201, "")
	sameBytes(t, first, s.do("POST", "/orders", body, alice, `Idempotency-Key: "`+keyText("x")+`"`))
	s.wantOrders(1)
}

func TestReadsIgnoreTheKey(t *testing.T) {
	s := open(t)
	o := s.order("x", s.pricing.body(Item{42, 1})).order(t)
	a := s.do("GET", "/orders/"+o.ID.String(), "", alice, key("x"), key("and another"), "Idempotency-Key: x").is(t, 200, "")
	if a.header.Get("Idempotent-Replayed") != "" || s.count(`SELECT count(*) FROM idempotency_keys`) != 1 {
		t.Error("a read made use of the key")
	}
}

// TestOtherPayloadIsRefusedBeforeTheStateIsLookedAt: in flight, done, refused, with the answer in Redis and without.
func TestOtherPayloadIsRefusedBeforeTheStateIsLookedAt(t *testing.T) {
	s := open(t)
	body, other := s.pricing.body(Item{42, 1}), s.pricing.body(Item{42, 2})
	refused := func(when, name string) {
		t.Helper()
		if a := s.order(name, other); a.status != 422 || a.problem() != "idempotency-key-reused" || a.header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s, %v", when, a.status, a.body, a.header)
		}
	}
	s.crashed("abandoned", body)
	refused("abandoned", "abandoned")
	s.crashed("in-flight", body)
	s.exec(`UPDATE idempotency_keys SET lease_until = now() + interval '1 hour' WHERE key = $1`, keyText("in-flight"))
	refused("in flight", "in-flight")
	s.order("done", body).is(t, 201, "")
	refused("done, answer in Redis", "done")
	flush(t, s.redis)
	refused("done, Redis empty", "done")
	s.order("no", s.pricing.body(Item{42, 50})).is(t, 422, "insufficient-stock")
	refused("refused", "no")
	s.wantOrders(1)
}

// TestWithoutPostgresNothingIsAccepted: gone, read-only, and with no connection to be had. Redis, which is well, decides nothing.
func TestWithoutPostgresNothingIsAccepted(t *testing.T) {
	s := closed(t)
	postgres, database := tapped(t, s.database)
	s.url = s.start("DATABASE_URL="+database, "POSTGRES_OPEN_FOR=1ms")
	body := s.pricing.body(Item{42, 1})
	nothing := func(when string) {
		t.Helper()
		if n := s.count(`SELECT (SELECT count(*) FROM idempotency_keys) + (SELECT count(*) FROM orders)`); n != 0 {
			t.Errorf("%s: %d rows written", when, n)
		}
		if n := s.inventory.asked(""); n != 0 {
			t.Errorf("%s: inventory was asked %d times", when, n)
		}
	}
	postgres.cut(true)
	s.retryable("x", body, http.StatusServiceUnavailable, "dependency-unavailable")
	nothing("gone")

	// The database itself becomes read-only, as a primary does that was made a standby; connections that are open do not notice.
	s.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	postgres.cut(false)
	for range 10 {
		s.retryable("x", body, http.StatusServiceUnavailable, "dependency-unavailable")
	}
	nothing("read-only")
	s.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$`)
	postgres.cut(false)
	s.eventually("an order, with the same key", func() bool { return s.order("x", body).status == 201 })
	s.wantOrders(1)
}

// TestTheAnswerOfTheCommitIsLost: the order is placed and orders does not know. The client hears that nobody knows, the key is not
// given back, and its next attempt reads the truth.
func TestTheAnswerOfTheCommitIsLost(t *testing.T) {
	s := closed(t)
	postgres, database := tapped(t, s.database)
	s.url = s.start("DATABASE_URL="+database, "POSTGRES_OPEN_FOR=1ms")
	body := s.pricing.body(Item{42, 1})
	s.inventory.behave(func(http.ResponseWriter, *http.Request) bool {
		postgres.lose(func() bool { return s.count(`SELECT count(*) FROM orders`) == 1 })
		return false
	})
	s.retryable("x", body, http.StatusServiceUnavailable, "outcome-unknown")
	s.wantOrders(1)
	s.inventory.behave(nil)
	postgres.cut(false)
	s.eventually("the truth", func() bool {
		a := s.order("x", body)
		return a.status == 201 && a.header.Get("Idempotent-Replayed") == "true"
	})
	s.wantOrders(1)
	if n := s.inventory.asked("POST /reservations/"); n != 1 {
		t.Errorf("stock was asked for %d times", n)
	}
}

// TestASilentRedisCostsLittle: it accepts connections and says nothing. Answers stay the same; what they cost more is bounded by the
// cache's own limit, twice, and soon nothing, because of its breaker.
func TestASilentRedisCostsLittle(t *testing.T) {
	s := closed(t)
	cache, address := tapped(t, s.redis)
	s.url = s.start("REDIS_URL=" + address)
	body := s.pricing.body(Item{42, 1})
	first := s.order("x", body).is(t, 201, "")
	usual := s.fastest(func() { sameBytes(t, first, s.order("x", body)) })
	cache.lose(func() bool { return true })
	silent := s.fastest(func() { sameBytes(t, first, s.order("x", body)) })
	if more := silent - usual; more < 5*time.Millisecond || more > 60*time.Millisecond { // 25 ms to ask, 25 ms to tell
		t.Errorf("a replay takes %s with a silent Redis, %s usually", silent, usual)
	}
	s.order("y", s.pricing.body(Item{42, 1})).is(t, 201, "")
	s.order("x", s.pricing.body(Item{42, 2})).is(t, 422, "idempotency-key-reused")
	s.wantOrders(2)
}

// fastest is the shortest of a few times: what it takes without what this machine adds. Few, so that no breaker opens meanwhile.
func (s *shop) fastest(do func()) time.Duration {
	best := time.Hour
	for range 4 {
		began := time.Now()
		do()
		best = min(best, time.Since(began))
	}
	return best
}
