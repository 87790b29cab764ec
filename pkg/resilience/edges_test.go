package resilience

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestDependencyComesFromNew: a forgotten New is a panic at the first call, before fn runs.
func TestDependencyComesFromNew(t *testing.T) {
	for name, d := range map[string]*Dependency{"nil": nil, "zero": {}} {
		panicked, ran := true, false
		surviving(func() {
			try(d, func(context.Context) (int, error) { ran = true; return 1, nil })
			panicked = false
		})
		if !panicked || ran {
			t.Errorf("%s: panicked is %t, fn ran is %t", name, panicked, ran)
		}
	}
}

// TestCloseDoesNotWaitForADelivery: the observer may be the one who closes, and it hears of nothing that comes later.
func TestCloseDoesNotWaitForADelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := 0
		var d *Dependency
		d = mustNew(t, breakerOn3(), &hooks{transition: func(TransitionEvent) { heard++; d.Close() }})
		trip(t, d)
		waitOpen(d)
		try(d, succeed)
		wantState(t, d, BreakerClosed)
		if heard != 1 {
			t.Errorf("heard of %d transitions, want the one in which it closed", heard)
		}
	})
}

// TestCallerWhoLeavesDoesNotSleepOn: not even to the end of a pause that the dependency asked for.
func TestCallerWhoLeavesDoesNotSleepOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := retryTwice()
		cfg.Timeout.Total = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		start := time.Now()
		fn, _ := answers(unavailable(5 * time.Second))
		if _, err := Call(ctx, mustNew(t, cfg, nil), fn); !errors.Is(err, context.Canceled) || time.Since(start) != 10*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestWhatIsNotAskedOfABackup(t *testing.T) {
	for name, c := range map[string]struct {
		first   error
		prepare func(replica *Dependency)
	}{
		"an error not worth a retry": {&StatusError{Status: 500}, func(*Dependency) {}},
		"no budget is left": {unavailable(0), func(replica *Dependency) {
			for replica.budget.withdraw(time.Now()) {
			}
		}},
		"a hedge, with its breaker open": {nil, func(replica *Dependency) { replica.hedger.policy.Backup.ForceOpen("", 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs := &recorder{}
				cfg := hedging()
				cfg.Hedge.Backup = mustNew(t, breakerOn3(), obs)
				replica := mustNew(t, cfg, nil)
				warmUp(replica)
				c.prepare(replica)
				wait := time.Millisecond
				if c.first == nil {
					wait = 100 * time.Millisecond // long enough for a hedge
				}
				if err := try(replica, after(wait, c.first)); err != c.first {
					t.Errorf("error is %v", err)
				}
				synctest.Wait()
				if calls, _ := obs.heard(); calls != 0 {
					t.Errorf("the backup was asked %d times", calls)
				}
			})
		})
	}
}

func TestErrorsTellLatestAndWhose(t *testing.T) {
	err := &AttemptsError{Errs: []error{&StatusError{Status: 503}, &StatusError{Status: 429}}}
	if s, _ := errors.AsType[*StatusError](err); s == nil || s.Status != 429 {
		t.Errorf("the status is %v, want the latest", s)
	}
	refused := &Rejected{Dependency: "a", Outcome: OutcomeRejectedOpen}
	for target, want := range map[*Rejected]bool{
		{Outcome: OutcomeRejectedOpen}: true, {Dependency: "a", Outcome: OutcomeRejectedOpen}: true,
		{Dependency: "b", Outcome: OutcomeRejectedOpen}: false, {Dependency: "a", Outcome: OutcomeRejectedLimit}: false,
	} {
		if errors.Is(refused, target) != want {
			t.Errorf("matches %+v: %t", target, !want)
		}
	}
}

func TestTransportFitsTheBulkhead(t *testing.T) {
	d := mustNew(t, Config{Timeout: Timeout{Attempt: 300 * time.Millisecond}, Bulkhead: Bulkhead{Max: 7}}, nil)
	tr := d.client.Transport.(*decorator).next.(*http.Transport)
	if tr.MaxIdleConns != 7 || tr.MaxIdleConnsPerHost != 7 || tr.IdleConnTimeout != 30*time.Second ||
		tr.TLSHandshakeTimeout != 300*time.Millisecond || tr.MaxResponseHeaderBytes != 64<<10 || !tr.DisableCompression {
		t.Errorf("transport is %+v", tr)
	}
}

// TestEitherRatioNeedsMinCalls: one minimum, for each signal, of calls within the window and not of all there ever were.
func TestEitherRatioNeedsMinCalls(t *testing.T) {
	slow := after(time.Second, nil)
	for name, fn := range map[string]body{"failures": fail, "slowness": slow} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustNew(t, Config{
					Timeout: Timeout{Total: 2 * time.Second},
					Breaker: Breaker{FailureRatio: 0.5, SlowRatio: 0.5, SlowAfter: 500 * time.Millisecond, MinCalls: 10, Window: 20 * time.Second, OpenFor: time.Minute},
				}, nil)
				for range 9 {
					try(d, fn)
				}
				wantState(t, d, BreakerClosed)
				time.Sleep(30 * time.Second) // the window has forgotten them
				for range 9 {
					try(d, fn)
				}
				wantState(t, d, BreakerClosed)
				try(d, fn)
				wantState(t, d, BreakerOpen)
			})
		})
	}
}

// TestBurstBeforeTheFirstResultMeetsTheLimit: a breaker learns from results, so until there are any the bulkhead is what bounds a burst.
func TestBurstBeforeTheFirstResultMeetsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOnHalf()
		cfg.Bulkhead.Max = 20
		d := mustNew(t, cfg, nil)
		var began atomic.Int32
		for range 1000 {
			go try(d, func(ctx context.Context) (int, error) {
				began.Add(1)
				return after(500*time.Millisecond, errDown)(ctx)
			})
		}
		synctest.Wait()
		if n := began.Load(); n != 20 {
			t.Errorf("%d of 1,000 began before the first result, want the 20 of the bulkhead", n)
		}
		time.Sleep(2 * time.Second)
		wantState(t, d, BreakerOpen)
	})
}
