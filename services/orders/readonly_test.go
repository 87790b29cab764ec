package main

import (
	"net/http"
	"sync"
	"testing"
)

// readOnly makes the database what it is after a demotion, for every instance: their sessions have ended, new ones can only read.
func (s *shop) readOnly(on bool) {
	s.t.Helper()
	s.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ` + map[bool]string{true: "on", false: "off"}[on] + `', current_database()); END $$`)
	s.exec(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'orders'`)
}

// TestReadOnlyPostgresIsWorthAskingAgain wherever it is met: at the finish, at a claim, at a cancellation.
func TestReadOnlyPostgresIsWorthAskingAgain(t *testing.T) {
	s := open(t, "KEY_WAIT=1ms", "COMPLETE_EVERY=1h") // the completer, which fails as well, would help to open the breaker
	placed := s.order("x", s.pricing.body(Item{42, 1})).is(t, 201, "").order(t)
	body, other := s.pricing.body(Item{42, 1}), s.pricing.body(Item{42, 1})
	var demote sync.Once
	s.inventory.behave(func(http.ResponseWriter, *http.Request) bool {
		demote.Do(func() { s.readOnly(true) }) // the key is claimed, the stock not held yet
		return false
	})
	requests := []struct {
		name   string
		send   func() answer
		status int // when Postgres is well
	}{
		{"finish", func() answer { return s.order("y", body) }, 201},
		{"claim", func() answer { return s.order("z", other) }, 201},
		{"cancel", func() answer { return s.do("POST", cancelPath(placed), "", alice) }, 200},
	}
	for _, r := range requests {
		if a := r.send(); a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %q, want a 503 that says when to ask again", r.name, a.status, a.problem())
		}
	}
	s.readOnly(false)
	s.expireLeases() // nothing could be released either
	for _, r := range requests {
		s.eventually(r.name, func() bool { return r.send().status == r.status }) // at once, unless a session is found dead only in use
	}
	s.wantOrders(3)
}
