package resilience

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEveryEndOfAProbeFreesItsPlace(t *testing.T) {
	canceled := func(context.Context) (int, error) { return 0, context.Canceled }
	ends := []struct {
		name   string
		body   body
		leave  bool // the caller leaves in mid-call
		state  BreakerState
		report Outcome
	}{
		{"success", succeed, false, BreakerClosed, OutcomeSuccess},
		{"an answer that is an error", func(context.Context) (int, error) { return 0, &StatusError{Status: 404} }, false, BreakerClosed, OutcomeSuccess},
		{"failure", fail, false, BreakerOpen, OutcomeFailure},
		{"context.Canceled while the caller is there", canceled, false, BreakerOpen, OutcomeFailure},
		{"timeout", after(time.Hour, nil), false, BreakerOpen, OutcomeTimeout},
		{"panic", panics, false, BreakerOpen, OutcomeFailure},
		{"panic(nil)", nilPanic, false, BreakerOpen, OutcomeFailure},
		{"Goexit", goexit, false, BreakerOpen, OutcomeFailure},
		{"the caller leaves", after(time.Hour, nil), true, BreakerHalfOpen, OutcomeCanceled},
		{"refused further down", func(context.Context) (int, error) {
			return 0, &Rejected{Dependency: "other", Outcome: OutcomeRejectedLimit}
		}, false, BreakerHalfOpen, OutcomeRejectedLimit},
	}
	for _, end := range ends {
		t.Run(end.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs := &recorder{}
				d := mustNew(t, breakerOn3(), obs)
				trip(t, d)
				waitOpen(d)

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if end.leave {
					time.AfterFunc(100*time.Millisecond, cancel)
				}
				surviving(func() { Call(ctx, d, end.body) })

				wantState(t, d, end.state)
				wantIdle(t, d)
				if got := obs.calls[len(obs.calls)-1].Outcome; got != end.report {
					t.Errorf("outcome is %s, want %s", got, end.report)
				}
				waitOpen(d)
				if err := try(d, succeed); err != nil {
					t.Errorf("the next probe was not admitted: %v", err)
				}
				wantState(t, d, BreakerClosed)
			})
		})
	}
}

func TestHungProbeIsGivenUpAndItsLateVerdictIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, breakerOn3(), nil)
		trip(t, d)
		waitOpen(d)
		go try(d, stubborn(24*time.Hour, nil))
		synctest.Wait()

		wantOutcome(t, try(d, succeed), OutcomeRejectedHalfOpen)
		rejected, admitted := 0, 0
		for range 24*60 - 1 { // one call a minute for a day
			time.Sleep(time.Minute)
			if try(d, succeed) != nil {
				rejected++
			} else {
				admitted++
			}
		}
		if rejected != 1 || admitted != 24*60-2 {
			t.Errorf("rejected %d, admitted %d, want one rejection (which notices that the probe hangs)", rejected, admitted)
		}
		trip(t, d)
		time.Sleep(time.Minute) // the first probe succeeds now, while the breaker waits for another
		wantState(t, d, BreakerHalfOpen)
	})
}

func TestNeverMoreProbesThanConfigured(t *testing.T) {
	for _, probes := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			cfg := breakerOn3()
			cfg.Breaker.Probes = probes
			d := mustNew(t, cfg, nil)
			trip(t, d)
			waitOpen(d)

			var running, peak, admitted atomic.Int64
			slowProbe := func(ctx context.Context) (int, error) {
				admitted.Add(1)
				peak.Store(max(peak.Load(), running.Add(1)))
				defer running.Add(-1)
				return after(500*time.Millisecond, errDown)(ctx)
			}
			var callers sync.WaitGroup
			for i := range 64 {
				callers.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					try(d, slowProbe)
				})
			}
			callers.Wait()
			if peak.Load() != int64(probes) || admitted.Load() != int64(probes) {
				t.Errorf("%d probes at once, %d in all, want %d", peak.Load(), admitted.Load(), probes)
			}
			wantState(t, d, BreakerOpen)
		})
	}
}

// TestThousandCallersAtOnceMakeOneProbe is the race of article 1's first breaker, which looks under a read lock and acts under another.
// The callers are real ones, in real time, and let go in the same instant; the one who gets through holds the others off.
func TestThousandCallersAtOnceMakeOneProbe(t *testing.T) {
	for range 20 {
		d := mustNew(t, breakerOn3(), nil)
		if err := d.ForceOpen("", time.Nanosecond); err != nil {
			t.Fatal(err)
		}
		var start, callers sync.WaitGroup
		start.Add(1)
		refused := make(chan struct{}, 1000)
		var probes atomic.Int64
		for range 1000 {
			callers.Go(func() {
				start.Wait()
				err := try(d, func(context.Context) (int, error) {
					if probes.Add(1) == 1 {
						for range 999 { // every other caller has been refused, or has become a probe as well
							<-refused
						}
					}
					return 0, nil
				})
				if err != nil || probes.Load() > 1 {
					refused <- struct{}{}
				}
			})
		}
		start.Done()
		callers.Wait()
		if n := probes.Load(); n != 1 {
			t.Fatalf("%d probes of 1,000 callers, want 1", n)
		}
		wantState(t, d, BreakerClosed)
	}
}

// TestNobodyProbesInTheInstantItOpens has many callers ask all the time while it opens: once open, it is open for its time.
func TestNobodyProbesInTheInstantItOpens(t *testing.T) {
	for range 20 {
		cfg := breakerOnHalf()
		cfg.Breaker.OpenFor = time.Hour
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		var callers sync.WaitGroup
		for range 64 {
			callers.Go(func() {
				for range 50 {
					try(d, fail)
				}
			})
		}
		callers.Wait()
		if got := obs.path(); len(got) != 1 || got[0] != BreakerOpen {
			t.Fatalf("went through %v, want to open once", got)
		}
	}
}

// TestRushAfterClosingMeetsTheLimit has a thousand callers wait for a probe to succeed.
func TestRushAfterClosingMeetsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Bulkhead.Max = 10
		d := mustNew(t, cfg, nil)
		trip(t, d)
		waitOpen(d)
		if err := try(d, succeed); err != nil {
			t.Fatal(err)
		}
		var running, peak atomic.Int64
		var callers sync.WaitGroup
		for range 1000 {
			callers.Go(func() {
				try(d, func(ctx context.Context) (int, error) {
					n := running.Add(1)
					defer running.Add(-1)
					for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
					}
					return after(100*time.Millisecond, nil)(ctx)
				})
			})
		}
		callers.Wait()
		if peak.Load() != 10 {
			t.Errorf("%d at once in a dependency that has just answered one probe, want the limit of 10", peak.Load())
		}
	})
}

func TestResultsDoNotBuyMoreProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Breaker.Probes = 3
		d := mustNew(t, cfg, nil)
		trip(t, d)
		waitOpen(d)
		go try(d, after(400*time.Millisecond, nil))
		synctest.Wait()

		admitted := 1
		for range 50 { // each answers at once; the first is still out
			if try(d, succeed) == nil {
				admitted++
			}
			time.Sleep(time.Millisecond)
		}
		if admitted != 3 {
			t.Errorf("%d calls admitted before the verdict, want 3", admitted)
		}
		time.Sleep(time.Second)
		wantState(t, d, BreakerClosed)
	})
}

func TestSuccessesToCloseMayExceedProbesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Breaker.Probes, cfg.Breaker.Successes = 1, 3
		d := mustNew(t, cfg, nil)
		trip(t, d)
		waitOpen(d)
		for i := range 3 {
			wantState(t, d, BreakerHalfOpen)
			if err := try(d, succeed); err != nil {
				t.Fatalf("probe %d: %v", i+1, err)
			}
		}
		wantState(t, d, BreakerClosed)
	})
}

func TestOneFailedProbeReopensForTheWholePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Breaker.Probes, cfg.Breaker.FailureRatio, cfg.Breaker.MinCalls = 2, 0.9, 1000
		d := mustNew(t, cfg, nil)
		for range 3 { // after each failed probe the full time applies anew
			if d.State().Breaker == BreakerClosed {
				trip(t, d)
			}
			waitOpen(d)
			try(d, succeed)
			try(d, fail)
			wantState(t, d, BreakerOpen)
			if open := d.State().RetryAfter; open < 8*time.Second || open > 10*time.Second {
				t.Errorf("open for %v, want 8 to 10 s", open)
			}
		}
	})
}

func TestSlowProbeReopensABreakerThatJudgesSlowness(t *testing.T) {
	for _, judges := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := breakerOn3()
			cfg.Breaker.SlowAfter = 500 * time.Millisecond
			want := BreakerClosed
			if judges {
				cfg.Breaker.SlowRatio, cfg.Breaker.MinCalls = 0.5, 10
				want = BreakerOpen
			}
			d := mustNew(t, cfg, nil)
			trip(t, d)
			waitOpen(d)
			if err := try(d, after(600*time.Millisecond, nil)); err != nil {
				t.Errorf("a slow success is still a success: %v", err)
			}
			wantState(t, d, want)
		})
	}
}

func TestRejectionsNameTheStateAndWhenToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, breakerOn3(), nil)
		trip(t, d)
		err := try(d, succeed)
		wantOutcome(t, err, OutcomeRejectedOpen)
		if r := err.(*Rejected); r.RetryAfter <= 7*time.Second || r.RetryAfter > 10*time.Second {
			t.Errorf("retry after %v, want what is left of the open time", r.RetryAfter)
		}
		waitOpen(d)
		go try(d, after(500*time.Millisecond, nil))
		synctest.Wait()
		err = try(d, succeed)
		wantOutcome(t, err, OutcomeRejectedHalfOpen)
		if r := err.(*Rejected); r.RetryAfter <= 0 || r.RetryAfter > 2*time.Second {
			t.Errorf("retry after %v, want about a probe's time", r.RetryAfter)
		}
		time.Sleep(time.Second)
	})
}

func TestReadingTheStateStartsNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, breakerOn3(), obs)
		trip(t, d)
		time.Sleep(time.Hour)
		for range 100 {
			wantState(t, d, BreakerHalfOpen)
		}
		if got := obs.path(); len(got) != 1 {
			t.Errorf("transitions %v, want only the opening: nobody has called", got)
		}
	})
}

func TestBreakersOpenedTogetherDoNotProbeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticks := map[time.Duration]int{}
		for range 100 {
			d := mustNew(t, breakerOn3(), nil)
			start := time.Now()
			trip(t, d)
			time.Sleep(time.Until(start.Add(time.Second)))
			ticks[d.State().RetryAfter/(10*time.Millisecond)]++
		}
		for tick, n := range ticks {
			if n > 10 {
				t.Errorf("%d of 100 instances probe within the 10 ms after %v", n, tick*10*time.Millisecond)
			}
		}
	})
}
