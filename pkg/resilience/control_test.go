package resilience

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBreakerForcedOpenStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, breakerOn3(), obs)
		if err := d.ForceOpen("the provider asks for quiet", time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		err := try(d, succeed)
		wantOutcome(t, err, OutcomeRejectedOpen)
		if r := err.(*Rejected); r.RetryAfter != time.Minute {
			t.Errorf("retry after %v, want the minute that is left", r.RetryAfter)
		}
		time.Sleep(time.Minute)
		if err := try(d, succeed); err != nil {
			t.Errorf("no probe afterwards: %v", err)
		}
		wantState(t, d, BreakerClosed)
		if got := obs.transitions[0].Reason; got != "by hand: the provider asks for quiet" {
			t.Errorf("reason is %q", got)
		}
	})
}

func TestBreakerHeldOpenUntilReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, breakerOn3(), obs)
		trip(t, d) // open already
		d.ForceOpen("maintenance", 0)
		time.Sleep(24 * time.Hour)
		wantOutcome(t, try(d, succeed), OutcomeRejectedOpen)
		if s := d.State(); !s.Held || s.Breaker != BreakerOpen {
			t.Errorf("state is %+v", s)
		}
		d.Release()
		if err := try(d, succeed); err != nil {
			t.Error(err)
		}
		if got, want := obs.path(), []BreakerState{BreakerOpen, BreakerHalfOpen, BreakerClosed}; !slices.Equal(got, want) {
			t.Errorf("went through %v, want %v", got, want)
		}
	})
}

func TestBreakerHeldClosedCountsButDoesNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, breakerOn3(), nil)
		trip(t, d)
		d.ForceClosed("false alarm")
		for range 100 {
			try(d, fail)
			time.Sleep(50 * time.Millisecond)
		}
		if s := d.State(); s.Breaker != BreakerClosed || s.Failures != 100 {
			t.Errorf("state is %+v", s)
		}
		d.Release()
		try(d, fail)
		wantState(t, d, BreakerOpen)
	})
}

func TestForcingDuringAProbe(t *testing.T) {
	for _, open := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := mustNew(t, breakerOn3(), nil)
			trip(t, d)
			waitOpen(d)
			go try(d, stubborn(100*time.Millisecond, errDown))
			synctest.Wait()
			want := BreakerClosed
			if open {
				want = BreakerOpen
				d.ForceOpen("", time.Hour)
			} else {
				d.ForceClosed("")
			}
			time.Sleep(time.Second) // the probe's verdict is of an older state
			wantState(t, d, want)
			wantIdle(t, d)
		})
	}
}

func TestControlWithoutABreaker(t *testing.T) {
	d := mustNew(t, Config{}, nil)
	if d.ForceOpen("", 0) == nil || d.ForceClosed("") == nil || d.Release() == nil {
		t.Error("forced a breaker that is not there")
	}
}

func TestLimitChangesUnderLoad(t *testing.T) {
	d := mustNew(t, bulkheadOf(4, time.Second), nil)
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 200 {
				try(d, succeed)
				d.State()
			}
		})
	}
	for n := range 200 {
		if err := d.SetLimit(n%7 + 1); err != nil {
			t.Error(err)
		}
	}
	callers.Wait()
	wantIdle(t, d)
	if d.SetLimit(0) == nil {
		t.Error("a limit of 0 was accepted")
	}
}

func TestHigherLimitWakesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(2, time.Minute), nil)
		for range 4 {
			go try(d, stubborn(time.Second, nil))
		}
		synctest.Wait()
		d.SetLimit(4)
		synctest.Wait()
		if s := d.State(); s.InFlight != 4 || s.Waiting != 0 {
			t.Errorf("in flight %d, waiting %d, want all four", s.InFlight, s.Waiting)
		}
		time.Sleep(2 * time.Second)
	})
}

func TestControlUnderLoad(t *testing.T) {
	cfg := retryTwice()
	cfg.Bulkhead = Bulkhead{Max: 8, MaxWait: time.Millisecond}
	cfg.Breaker = Breaker{FailureRatio: 0.5, MinCalls: 10, ConsecutiveFailures: 3, OpenFor: time.Millisecond}
	cfg.Hedge = Hedge{MaxRatio: 0.05, Idempotent: true, MinSamples: 20}
	obs := &recorder{}
	d := mustNew(t, cfg, obs)
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			for j := range 300 {
				fn := succeed
				if (i+j)%3 == 0 {
					fn = fail
				}
				try(d, fn)
			}
		})
	}
	for n := range 300 {
		switch n % 5 {
		case 0:
			d.ForceOpen("drill", time.Millisecond)
		case 1:
			d.ForceClosed("drill")
		case 2:
			d.Release()
		case 3:
			d.SetLimit(n%7 + 1)
		case 4:
			_ = d.State()
		}
	}
	d.Release()
	callers.Wait()
	wantIdle(t, d)
	sum := 0
	for _, n := range obs.outcomes() {
		sum += n
	}
	if sum != 16*300 {
		t.Errorf("%d outcomes for %d calls", sum, 16*300)
	}
	for i := 1; i < len(obs.transitions); i++ {
		if obs.transitions[i].From != obs.transitions[i-1].To {
			t.Fatalf("event %d goes from %s after one to %s", i, obs.transitions[i].From, obs.transitions[i-1].To)
		}
	}
}
