//go:build !race

package resilience

import (
	"context"
	"testing"
	"time"
)

// Allocations are exact, so they are gated exactly: four for the deadline of the attempt, three more for a timer that may start
// another attempt.
func TestAllocations(t *testing.T) {
	layers := Config{
		Bulkhead: Bulkhead{Max: 50},
		Breaker:  Breaker{FailureRatio: 0.5, MinCalls: 20, OpenFor: time.Hour},
	}
	all := layers
	all.Timeout = Timeout{Total: time.Second, Attempt: 200 * time.Millisecond}
	all.Retry = Retry{Max: 2, Base: 10 * time.Millisecond}
	hedged := all
	hedged.Hedge = Hedge{MaxRatio: 0.05, Idempotent: true}
	open := mustNew(t, layers, nil)
	open.ForceOpen("", 0)

	for _, c := range []struct {
		name string
		dep  *Dependency
		want float64
	}{
		{"nothing configured", mustNew(t, Config{}, nil), 0},
		{"bulkhead and breaker", mustNew(t, layers, nil), 0},
		{"with retry and timeout", mustNew(t, all, NopObserver{}), 4},
		{"and an idle hedge", mustNew(t, hedged, nil), 7},
		{"rejected by an open breaker", open, 0},
	} {
		ctx := context.Background()
		if got := testing.AllocsPerRun(1000, func() { Call(ctx, c.dep, succeed) }); got > c.want {
			t.Errorf("%s: %v allocations, want at most %v", c.name, got, c.want)
		}
	}
}
