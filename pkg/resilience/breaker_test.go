package resilience

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// breakerOnHalf judges by ratio alone.
func breakerOnHalf() Config {
	return Config{
		Timeout: Timeout{Total: time.Second},
		Breaker: Breaker{FailureRatio: 0.5, MinCalls: 10, Window: 10 * time.Second, OpenFor: 10 * time.Second},
	}
}

func TestResultsOfAnEarlierStateHaveNoVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, breakerOn3(), obs)
		straggler := func(end time.Duration, err error) { go try(d, stubborn(end, err)) }
		for i := range 5 {
			straggler(3*time.Second+time.Duration(i)*time.Millisecond, nil)     // succeed while open
			straggler(4*time.Second+time.Duration(i)*time.Millisecond, errDown) // fail while open
			straggler(30*time.Second+time.Duration(i)*time.Millisecond, nil)    // succeed while half-open
			straggler(31*time.Second+time.Duration(i)*time.Millisecond, errDown)
			straggler(60*time.Second+time.Duration(i)*time.Millisecond, errDown) // fail after it has closed
		}
		start := time.Now()
		at := func(s float64) {
			time.Sleep(time.Until(start.Add(time.Duration(s * float64(time.Second)))))
		}
		trip(t, d)
		at(5)
		wantState(t, d, BreakerOpen)
		if open := d.State().RetryAfter; open > 6*time.Second {
			t.Errorf("late failures prolonged the open time: %v left", open)
		}
		at(29.5)
		var probe sync.WaitGroup
		probe.Go(func() { try(d, stubborn(1900*time.Millisecond, errDown)) })
		at(31.2)
		wantState(t, d, BreakerHalfOpen)
		for range 1000 {
			wantOutcome(t, try(d, succeed), OutcomeRejectedHalfOpen)
		}
		probe.Wait()
		wantState(t, d, BreakerOpen)
		at(50)
		try(d, succeed)
		at(62)
		wantState(t, d, BreakerClosed)
		want := []BreakerState{BreakerOpen, BreakerHalfOpen, BreakerOpen, BreakerHalfOpen, BreakerClosed}
		if got := obs.path(); !slices.Equal(got, want) {
			t.Errorf("went through %v, want %v", got, want)
		}
	})
}

func TestOpensOnFailureRatio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, breakerOnHalf(), nil)
		for i := range 11 { // FFFFS FFFFS F: never five in a row, but 80 %; the tenth is good, and no reason to stop
			wantState(t, d, BreakerClosed)
			if i%5 == 4 {
				try(d, succeed)
			} else {
				try(d, fail)
			}
		}
		wantState(t, d, BreakerOpen)
	})
}

func TestStaysClosedBelowTheRatioHoweverManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, breakerOnHalf(), nil)
		rng := rand.New(rand.NewPCG(1, 2))
		for range 30_000 { // 1,000 a second for 30 s, 10 % of them fail
			fn := succeed
			if rng.Float64() < 0.1 {
				fn = fail
			}
			if err := try(d, fn); err != nil && !errors.Is(err, errDown) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
	})
}

func TestFailuresAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOnHalf()
		cfg.Breaker.ConsecutiveFailures = 3
		d := mustNew(t, cfg, nil)
		for range 100 { // one failure a day is no outage
			try(d, fail)
			time.Sleep(24 * time.Hour)
		}
		wantState(t, d, BreakerClosed)
		for range 9 { // nine failures, then an hour's rest: the rate is not 1.0 for ever
			try(d, fail)
		}
		time.Sleep(time.Hour)
		if s := d.State(); s.Calls != 0 || s.Failures != 0 {
			t.Errorf("an hour later the window reads %d of %d failed, want nothing", s.Failures, s.Calls)
		}
	})
}

func TestRareCallsThatAllFailOpenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOnHalf()
		cfg.Breaker.ConsecutiveFailures = 5
		d := mustNew(t, cfg, nil)
		for range 5 { // one in seven seconds: MinCalls never come together
			wantState(t, d, BreakerClosed)
			try(d, fail)
			time.Sleep(7 * time.Second)
		}
		if got := d.State().Breaker; got == BreakerClosed {
			t.Error("five failures in a row left it closed")
		}
	})
}

func TestOneHiccupOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, breakerOn3(), nil)
		for range 50 { // all that was in flight fails within 490 ms
			go try(d, fail)
			time.Sleep(10 * time.Millisecond)
		}
		wantState(t, d, BreakerClosed)
		time.Sleep(10 * time.Millisecond)
		try(d, fail)
		wantState(t, d, BreakerOpen)
	})
}

func TestSuccessesFromBeforeTheOutageDoNotHideIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Timeout.Total = 0
		d := mustNew(t, cfg, nil)
		for i := range 250 { // long calls begun in good times end well, one every 40 ms
			go try(d, stubborn(time.Duration(i+1)*40*time.Millisecond, nil))
		}
		synctest.Wait()
		time.Sleep(time.Millisecond)
		begin := time.Now()
		for d.State().Breaker == BreakerClosed && time.Since(begin) < 10*time.Second {
			try(d, fail)
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(begin); took > 600*time.Millisecond {
			t.Errorf("opened after %v, want about 500 ms", took)
		}
		time.Sleep(10 * time.Second)
	})
}

func TestBurstAcrossABucketsEdgeIsOneBurst(t *testing.T) {
	for offset := time.Duration(0); offset < 3*time.Second; offset += 250 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			d := mustNew(t, breakerOnHalf(), nil)
			time.Sleep(time.Minute - time.Second + offset)
			for range 18 {
				try(d, fail)
				time.Sleep(50 * time.Millisecond)
			}
			wantState(t, d, BreakerOpen)
		})
	}
}

func TestFewErrorsJustAfterARotationAreStillFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, breakerOnHalf(), nil)
		for range 300 { // 30 s at 9 %, all errors of a second in one bunch
			for i := range 100 {
				fn := succeed
				if i >= 91 {
					fn = fail
				}
				try(d, fn)
				time.Sleep(time.Millisecond)
			}
			wantState(t, d, BreakerClosed)
		}
	})
}

func TestResultsSlowerThanTheWindowStillCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOnHalf()
		cfg.Timeout = Timeout{}
		cfg.Breaker.Window = time.Second
		d := mustNew(t, cfg, nil)
		start := time.Now()
		for range 40 {
			go try(d, stubborn(1200*time.Millisecond, errDown))
			time.Sleep(50 * time.Millisecond)
		}
		if s := d.State().Breaker; s != BreakerOpen {
			t.Errorf("breaker is %s after %v of nothing but failures", s, time.Since(start))
		}
		time.Sleep(2 * time.Second)
	})
}

func TestSlowSuccessesOpenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOnHalf()
		cfg.Timeout.Total = 2 * time.Second
		cfg.Breaker.Window = 20 * time.Second
		cfg.Breaker.SlowRatio, cfg.Breaker.SlowAfter = 0.8, time.Second
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		admitted := 0
		for range 1000 { // 1.9 s where 10 ms is normal: no error anywhere
			if try(d, after(1900*time.Millisecond, nil)) == nil {
				admitted++
			}
			if d.State().Breaker != BreakerClosed {
				break
			}
		}
		if admitted != 10 {
			t.Errorf("%d slow calls admitted, want MinCalls = 10", admitted)
		}
		if e := obs.transitions[0]; e.Reason != "slow ratio" || e.Slow != 10 || e.Failures != 0 || e.Calls != 10 {
			t.Errorf("the event says %+v, want the counts that caused it", e)
		}
	})
}

func TestCallersWhoLeaveDoNotOpenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, breakerOn3(), obs)
		for range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			_, err := Call(ctx, d, after(100*time.Millisecond, nil))
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error is %v, want context.Canceled", err)
			}
		}
		wantState(t, d, BreakerClosed)
		if n := obs.outcomes()[OutcomeCanceled]; n != 50 {
			t.Errorf("%d calls counted as canceled, want 50", n)
		}
		if s := d.State(); s.Calls != 0 {
			t.Errorf("%d results in the window, want none", s.Calls)
		}
	})
}

func TestTimeoutsCountWhosesoeverTheyAre(t *testing.T) {
	for name, budget := range map[string]time.Duration{"ours": time.Hour, "the caller's, shorter than ours": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustNew(t, breakerOn3(), nil)
				for range 3 {
					ctx, cancel := context.WithTimeout(t.Context(), budget)
					_, err := Call(ctx, d, after(4800*time.Millisecond, nil))
					cancel()
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Fatalf("error is %v, want DeadlineExceeded", err)
					}
				}
				wantState(t, d, BreakerOpen)
			})
		})
	}
}

func TestCallerTooImpatientToTellAnythingIsNeutral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Breaker.SlowAfter = 200 * time.Millisecond
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		for range 100 { // a healthy 100 ms, and a caller with 50 ms left
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			Call(ctx, d, after(100*time.Millisecond, nil))
			cancel()
		}
		wantState(t, d, BreakerClosed)
		if n := obs.outcomes()[OutcomeTimeout]; n != 100 {
			t.Errorf("%d timeouts reported, want all 100", n)
		}
	})
}

func TestPanicsCountAsFailures(t *testing.T) {
	for name, fn := range map[string]body{"panic": panics, "panic(nil)": nilPanic, "Goexit": goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustNew(t, breakerOn3(), nil)
				for range 10 {
					surviving(func() { try(d, fn) })
					time.Sleep(100 * time.Millisecond)
				}
				wantState(t, d, BreakerOpen)
				wantIdle(t, d)
			})
		})
	}
}

func TestBusinessErrorsAreAnswers(t *testing.T) {
	errNoSuchUser := errors.New("no such user")
	cfg := breakerOn3()
	cfg.Classify = func(err error) Outcome {
		if errors.Is(err, errNoSuchUser) {
			return OutcomeSuccess
		}
		return DefaultClassify(err)
	}
	for name, err := range map[string]error{"status": &StatusError{Status: 404}, "by Classify": errNoSuchUser} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustNew(t, cfg, nil)
				for range 100 {
					if got := try(d, func(context.Context) (int, error) { return 0, err }); got != err {
						t.Fatalf("error is %v, want it as fn returned it", got)
					}
					time.Sleep(100 * time.Millisecond)
				}
				wantState(t, d, BreakerClosed)
			})
		})
	}
}

func TestLocalRejectionsNeverReachTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Bulkhead.Max = 10
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		for range 10 { // bursts of 15 healthy calls
			var burst sync.WaitGroup
			for range 15 {
				burst.Go(func() { try(d, after(300*time.Millisecond, nil)) })
			}
			burst.Wait()
		}
		if got := obs.outcomes(); got[OutcomeRejectedLimit] != 50 || got[OutcomeSuccess] != 100 {
			t.Errorf("outcomes %v, want 100 successes and 50 rejections", got)
		}
		wantState(t, d, BreakerClosed)
		if s := d.State(); s.Failures != 0 {
			t.Errorf("%d failures in the window, want none", s.Failures)
		}
	})
}

func TestOneOpeningPerEpisode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, breakerOn3(), obs)
		var callers sync.WaitGroup
		for i := range 200 {
			callers.Go(func() { try(d, after(time.Duration(i)*10*time.Millisecond, errDown)) })
		}
		callers.Wait()
		if got := obs.path(); !slices.Equal(got, []BreakerState{BreakerOpen}) {
			t.Errorf("transitions %v, want one opening", got)
		}
	})
}

func TestRatiosNeedTheirMinimumOfCalls(t *testing.T) {
	for name, cfg := range map[string]Config{
		"failures": breakerOnHalf(),
		"slowness": {Breaker: Breaker{SlowRatio: 0.5, SlowAfter: 10 * time.Millisecond, MinCalls: 10, OpenFor: time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustNew(t, cfg, nil)
				for range 10 {
					wantState(t, d, BreakerClosed)
					try(d, after(20*time.Millisecond, map[bool]error{true: errDown}[name == "failures"]))
				}
				wantState(t, d, BreakerOpen)
			})
		})
	}
}

func TestOuterBreakerDoesNotCountAnInnerOnesRejections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, inner := mustNew(t, breakerOn3(), nil), mustNew(t, breakerOn3(), nil)
		trip(t, inner)
		for range 100 {
			err := try(outer, func(ctx context.Context) (int, error) { return Call(ctx, inner, succeed) })
			if err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		wantState(t, outer, BreakerClosed)
		if s := outer.State(); s.Failures != 0 {
			t.Errorf("%d failures counted", s.Failures)
		}
	})
}

// TestDetectionTimeOfTheOpeningIncident replays the articles' opening incident: 10 ms become 4.8 s, the call's timeout is 500 ms.
func TestDetectionTimeOfTheOpeningIncident(t *testing.T) {
	for _, c := range []struct {
		every, within time.Duration
	}{
		{20 * time.Millisecond, 1100 * time.Millisecond}, // 50 a second
		{time.Second, 5500 * time.Millisecond},
		{5 * time.Second, 21 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := Config{
				Timeout: Timeout{Total: 500 * time.Millisecond},
				Breaker: Breaker{FailureRatio: 0.5, MinCalls: 20, Window: 10 * time.Second, ConsecutiveFailures: 5, OpenFor: 30 * time.Second},
			}
			obs := &recorder{}
			d := mustNew(t, cfg, obs)
			for range 200 { // a healthy past
				try(d, after(10*time.Millisecond, nil))
				time.Sleep(c.every)
			}
			onset := time.Now()
			for d.State().Breaker == BreakerClosed {
				go try(d, after(4800*time.Millisecond, nil))
				time.Sleep(c.every)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if took := obs.transitions[0].At.Sub(onset); took > c.within {
				t.Errorf("one call per %v: opened after %v, want %v", c.every, took, c.within)
			}
		})
	}
}
