package service

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
)

// wholePolicy has every layer that can be left out.
func wholePolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 200 * time.Millisecond, Attempt: 80 * time.Millisecond},
		Retry:    resilience.Retry{Max: 1, Base: 10 * time.Millisecond, Cap: 20 * time.Millisecond},
		Hedge:    resilience.Hedge{MaxRatio: 0.05, Idempotent: true, MinSamples: 20},
		Adaptive: resilience.Adaptive{Min: 2, Max: 20},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 70 * time.Millisecond, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: 30 * time.Second, Probes: 1},
	}
}

// outcome is what came of ten seconds of visitors, 25 a second, on a dependency.
type outcome struct {
	asked, most int // attempts, and how many at once
	late        int // calls that took more than 40 ms
	limit       int // at the end
}
type dependencyFake func(ctx context.Context, call, attempt int) error

// visit lets the visitors come, and counts at the dependency itself.
func visit(t *testing.T, without Pattern, cfg resilience.Config, fake dependencyFake) (out outcome) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		s.base.Without = without
		d := newTestDependency(t, s, cfg)
		var mu sync.Mutex
		var visitors sync.WaitGroup
		now := 0
		for call := range 250 {
			visitors.Go(func() {
				attempt, began := 0, time.Now()
				_ = resilience.Do(t.Context(), d, func(ctx context.Context) error {
					mu.Lock()
					out.asked++
					now++
					out.most = max(out.most, now)
					mine := attempt
					attempt++
					mu.Unlock()
					err := fake(ctx, call, mine)
					mu.Lock()
					now--
					mu.Unlock()
					return err
				})
				mu.Lock()
				defer mu.Unlock()
				if time.Since(began) > 40*time.Millisecond {
					out.late++
				}
			})
			time.Sleep(40 * time.Millisecond)
		}
		visitors.Wait()
		out.limit = d.State().Limit
	})
	return out
}

// takes is a dependency that needs this long, unless nobody waits any more.
func takes(d time.Duration) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestTakeOneOut is the outage in short, once with every layer and once without one: what it is there for breaks without it. Fallback
// and idempotency are the services' own; their short forms are in services/productpage/without_test.go.
func TestTakeOneOut(t *testing.T) {
	hang := takes(time.Hour)
	hangs := func(ctx context.Context, _, _ int) error { return hang(ctx) }
	alone := wholePolicy() // without those that would do another one's work
	alone.Breaker, alone.Hedge = resilience.Breaker{}, resilience.Hedge{}
	fixed := alone
	fixed.Adaptive, fixed.Bulkhead = resilience.Adaptive{}, resilience.Bulkhead{Max: 3}
	fixed.Timeout = resilience.Timeout{Total: time.Second, Attempt: 400 * time.Millisecond}
	for _, c := range []struct {
		without Pattern
		cfg     resilience.Config
		fake    dependencyFake
		kept    func(outcome) bool
	}{
		{Deadline, wholePolicy(), hangs, func(o outcome) bool { return o.most <= 10 }},
		{Bulkhead, fixed, hangs, func(o outcome) bool { return o.most <= 3 }},
		{Limiter, alone, func(ctx context.Context, call, _ int) error {
			if call < 100 {
				return takes(2 * time.Millisecond)(ctx)
			}
			return takes(75 * time.Millisecond)(ctx)
		}, func(o outcome) bool { return o.limit <= 12 }},
		{Breaker, wholePolicy(), hangs, func(o outcome) bool { return o.asked <= 60 }},
		{RetryBudget, alone, func(_ context.Context, call, attempt int) error {
			if call%3 == 0 && attempt == 0 {
				return &resilience.StatusError{Status: 503}
			}
			return nil
		}, func(o outcome) bool { return o.asked <= 250+25+2*10 }},
		{Hedging, wholePolicy(), func(ctx context.Context, call, attempt int) error {
			if call%25 == 24 && attempt == 0 {
				return takes(60 * time.Millisecond)(ctx)
			}
			return takes(2 * time.Millisecond)(ctx)
		}, func(o outcome) bool { return o.late <= 3 }},
	} {
		t.Run(string(c.without), func(t *testing.T) {
			if o := visit(t, "", c.cfg, c.fake); !c.kept(o) {
				t.Errorf("with all layers: %+v", o)
			}
			if o := visit(t, c.without, c.cfg, c.fake); c.kept(o) {
				t.Errorf("without it nothing was any different: %+v", o)
			}
		})
	}
}

func TestEveryPatternIsLeftOutOfEveryPolicy(t *testing.T) {
	for _, p := range Patterns() {
		for name, cfg := range map[string]resilience.Config{"whole": wholePolicy(), "plain": testPolicy(), "nothing": {}} {
			d, err := resilience.New("x", p.leaveOut(cfg), nil)
			if err != nil {
				t.Errorf("%s without %s is impossible: %v", name, p, err)
				continue
			}
			d.Close()
		}
	}
	var p Pattern
	if err := p.UnmarshalText([]byte("brakes")); err == nil {
		t.Error("a pattern that nobody knows was accepted")
	}
}
