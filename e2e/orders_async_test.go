//go:build e2e && soak

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAsynchronousCommitIsCaught turns off what all promises rest on: with synchronous_commit=off Postgres says "committed" up to
// 600 ms before it is. It is then killed again and again, and the books have to miss orders that a client was told of (I2). They would
// not with fsync=off: what a killed process has written is in the kernel. It leaves a shop whose books are wrong, so it runs alone, in
// `make soak`: about a minute.
func TestAsynchronousCommitIsCaught(t *testing.T) {
	s := stack(t)
	s.Replica(t, "orders", "orders-2")
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()"} {
		if code := s.Exec(t, "postgres", "psql", "-h", "/var/run/postgresql", "-U", "postgres", "-c", sql); code != 0 {
			t.Fatalf("%s: exit code %d", sql, code)
		}
	}
	b := s.crowd(s.stock(t))
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		b.buy(context.Background(), 1, func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
	}()
	const kills = 8
	for range kills {
		time.Sleep(4 * time.Second)
		s.Kill(t, "postgres")
		s.Start(t, "postgres")
		s.waitAccepts(t, "postgres")
	}
	close(over)
	<-done
	lost := slices.DeleteFunc(s.booksAgree(t, b.history.intents), func(wrong string) bool { return !strings.HasPrefix(wrong, "I2") })
	t.Logf("Postgres was killed %d times; of %d orders that clients were told of %d are lost", kills, b.history.orders(), len(lost))
	if len(lost) == 0 {
		t.Error("no order was lost: this test, or the check of the books, sees nothing")
	}
}
