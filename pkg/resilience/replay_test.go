package resilience

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The articles' headline claims, replayed with what stands in docs/errata.md.

// seeded returns a body that does one thing with probability p and another otherwise. It decides when the attempt begins.
func seeded(seed uint64, p float64, one, other body) body {
	rng := rand.New(rand.NewPCG(seed, seed))
	var mu sync.Mutex
	return func(ctx context.Context) (int, error) {
		mu.Lock()
		chosen := rng.Float64() < p
		mu.Unlock()
		if chosen {
			return one(ctx)
		}
		return other(ctx)
	}
}

// offer makes a call each gap, for as long as going says, whether or not the earlier ones have ended.
func offer(d *Dependency, gap time.Duration, fn body, going func() bool) {
	var callers sync.WaitGroup
	for going() {
		callers.Go(func() { try(d, fn) })
		time.Sleep(gap)
	}
	callers.Wait()
}

// TestQuickAnswersBetweenTheHangingOnesDoNotHideThem has a part of the calls answered as ever while the rest hangs.
func TestQuickAnswersBetweenTheHangingOnesDoNotHideThem(t *testing.T) {
	for _, c := range []struct {
		quick  float64
		within time.Duration
	}{{0.1, 7 * time.Second}, {0.3, 9 * time.Second}, {0.45, 12 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			cfg := breakerOnHalf()
			cfg.Timeout.Total = 500 * time.Millisecond
			cfg.Breaker.MinCalls, cfg.Breaker.ConsecutiveFailures = 20, 5
			obs := &recorder{}
			d := mustNew(t, cfg, obs)
			quick, hung := after(10*time.Millisecond, nil), after(4800*time.Millisecond, nil)
			begin := time.Now()
			offer(d, 20*time.Millisecond, quick, func() bool { return time.Since(begin) < 20*time.Second })
			onset := time.Now()
			offer(d, 20*time.Millisecond, seeded(1, c.quick, quick, hung), func() bool {
				return d.State().Breaker == BreakerClosed && time.Since(onset) < time.Minute
			})
			if len(obs.transitions) == 0 {
				t.Fatalf("%.0f %% quick answers: it never opened", c.quick*100)
			}
			took := obs.transitions[0].At.Sub(onset)
			t.Logf("%.0f %% quick answers: opened after %v", c.quick*100, took)
			if took > c.within {
				t.Errorf("%.0f %% quick answers: opened after %v, want %v", c.quick*100, took, c.within)
			}
		})
	}
}

// TestLateSuccessesDoNotKeepASickDependencyInUse has nine calls in ten fail, and the tenth succeed just before its timeout.
func TestLateSuccessesDoNotKeepASickDependencyInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, Config{
			Timeout: Timeout{Total: 2 * time.Second},
			Breaker: Breaker{FailureRatio: 0.5, MinCalls: 20, Window: 20 * time.Second, ConsecutiveFailures: 5, OpenFor: 30 * time.Second},
		}, obs)
		begin := time.Now()
		sick := seeded(2, 0.1, after(1900*time.Millisecond, nil), after(11*time.Millisecond, errDown))
		offer(d, 20*time.Millisecond, sick, func() bool { return time.Since(begin) < 2*time.Minute })
		opened := 0
		for _, s := range obs.path() {
			if s == BreakerOpen {
				opened++
			}
		}
		t.Logf("%d of %d calls admitted, opened %d times", len(obs.attempts), len(obs.calls), opened)
		if len(obs.attempts) > 150 || opened > 6 {
			t.Errorf("%d of %d calls admitted, opened %d times, want a first burst and a probe each half minute", len(obs.attempts), len(obs.calls), opened)
		}
	})
}

// TestLuckyProbesDoNotClose has a dependency that answers one call in five, for a thousand open periods.
func TestLuckyProbesDoNotClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Breaker.Successes = 5
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		trip(t, d)
		sick := seeded(3, 0.2, succeed, fail)
		for range 1000 {
			if d.State().Breaker == BreakerClosed {
				trip(t, d)
			}
			waitOpen(d)
			for d.State().Breaker == BreakerHalfOpen {
				try(d, sick)
			}
		}
		closed := 0
		for _, s := range obs.path() {
			if s == BreakerClosed {
				closed++
			}
		}
		if closed > 2 { // one of 3,125 is luck of five in a row
			t.Errorf("closed %d times in 1,000 periods, want next to never", closed)
		}
	})
}

// TestBrokenBackupCostsNoAnswer has one read in twenty slow, and a backup that fails for half of what it is asked.
func TestBrokenBackupCostsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hedging()
		cfg.Hedge.Backup = mustNew(t, Config{Timeout: cfg.Timeout}, nil)
		d := mustNew(t, cfg, nil)
		warmUp(d)
		slowly := seeded(4, 0.05, after(200*time.Millisecond, nil), after(10*time.Millisecond, nil))
		half := seeded(5, 0.5, fail, after(10*time.Millisecond, nil))
		failed, hedged := 0, 0
		for range 5000 {
			_, err := Call(t.Context(), d, func(ctx context.Context) (int, error) {
				if OnBackup(ctx) {
					hedged++
					return half(ctx)
				}
				return slowly(ctx)
			})
			if err != nil {
				failed++
			}
		}
		if failed > 0 || hedged < 100 {
			t.Errorf("%d of 5,000 reads failed, %d were hedged; without hedging none fails", failed, hedged)
		}
	})
}

// TestFanOutOfAHundred makes pages of a hundred calls each, which are as slow as their slowest: "The Tail at Scale".
func TestFanOutOfAHundred(t *testing.T) {
	page := func(d *Dependency, made *atomic.Int64, leaf body) time.Duration {
		start := time.Now()
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				try(d, func(ctx context.Context) (int, error) { made.Add(1); return leaf(ctx) })
			})
		}
		calls.Wait()
		return time.Since(start)
	}
	p99 := func(d *Dependency, pages int) (time.Duration, float64) {
		rng := rand.New(rand.NewPCG(6, 6))
		var mu sync.Mutex
		usual := func(ctx context.Context) (int, error) {
			mu.Lock()
			took := 5 * math.Exp(0.2*rng.NormFloat64())
			mu.Unlock()
			return after(time.Duration(took*float64(time.Millisecond)), nil)(ctx)
		}
		leaf := seeded(7, 0.001, after(2*time.Second, nil), usual) // so one page in ten waits two seconds
		var made atomic.Int64
		for range 20 {
			page(d, &made, leaf)
		}
		made.Store(0)
		var took []time.Duration
		for range pages {
			took = append(took, page(d, &made, leaf))
		}
		slices.Sort(took)
		return took[pages*99/100], float64(made.Load())/float64(100*pages) - 1
	}
	synctest.Test(t, func(t *testing.T) {
		plain := mustNew(t, Config{Timeout: Timeout{Total: 10 * time.Second}}, nil)
		cfg := hedging()
		cfg.Hedge.Quantile = 0.995
		without, _ := p99(plain, 300)
		with, extra := p99(mustNew(t, cfg, nil), 300)
		t.Logf("p99 of pages %v -> %v for %.2f %% more calls", without, with, extra*100)
		if with*50 > without || extra > 0.01 {
			t.Errorf("p99 of pages %v, without hedging %v, for %.2f %% more calls; want a fiftieth for less than 1 %%", with, without, extra*100)
		}
	})
}
