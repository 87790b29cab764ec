//go:build e2e

package e2e

import (
	"net/http"
	"testing"
	"time"
)

// maxLag is REPLICA_MAX_LAG: a replica further behind is not read.
const maxLag = 5

// reads counts what inventory has read from one of its two databases for pages, as that one's breaker saw it: a call that failed over
// to the primary counts as the primary's.
func (s *Stack) reads(t testing.TB, dependency string) float64 {
	t.Helper()
	return s.sum(t, "inventory", "circuit_breaker_calls_total", `dependency="`+dependency+`"`, `result="success"`)
}

func (s *Stack) replicaLag(t testing.TB) float64 {
	t.Helper()
	return s.sum(t, "inventory", "inventory_replica_lag_seconds")
}

// replicaFollows waits until the replica has joined its primary again, by itself, and is read from. Whole pages do not prove it: the
// primary gives them, too.
func (s *Stack) replicaFollows(t testing.TB) {
	t.Helper()
	before := s.reads(t, "postgres-replica")
	eventually(t, "the replica follows its primary and is read", func() bool {
		look(http.DefaultClient, s.URL("productpage")+"/products/42")
		return s.replicaLag(t) < maxLag && s.reads(t, "postgres-replica") > before
	})
}

// behind stops the replay of the primary's log: the replica answers as quickly as ever, and what it says is old.
func behind(s *Stack, t testing.TB, b *browsing) time.Time {
	replay := func(what string) {
		if code := s.Exec(t, "postgres-inventory-replica", "psql", "-U", "postgres", "-c", "SELECT pg_wal_replay_"+what+"()"); code != 0 {
			t.Fatalf("pg_wal_replay_%s: exit code %d", what, code)
		}
	}
	replay("pause")
	eventuallyIn(t, (maxLag+5)*time.Second, "the replica is too far behind", func() bool { return s.replicaLag(t) > maxLag })
	from := time.Now()
	replica, primary := s.reads(t, "postgres-replica"), s.reads(t, "postgres-primary-reads")
	time.Sleep(2 * time.Second) // forty pages
	// A read that was on its way may still have counted; a hedge of the replica's may have answered first.
	if old, fresh := s.reads(t, "postgres-replica")-replica, s.reads(t, "postgres-primary-reads")-primary; old > 2 || fresh < 20 {
		t.Errorf("5 s behind: %.0f reads of the replica and %.0f of the primary", old, fresh)
	}
	for _, v := range b.soFar().within(from, time.Now()) {
		if v.lacks("stock") {
			t.Errorf("a page lacks its count while the primary has it: %v", v)
			break
		}
	}
	replay("resume")
	return time.Now()
}
