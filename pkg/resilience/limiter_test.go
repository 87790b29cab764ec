package resilience

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func bulkheadOf(n int, wait time.Duration) Config {
	return Config{Timeout: Timeout{Total: time.Hour}, Bulkhead: Bulkhead{Max: n, MaxWait: wait}}
}

func TestFullBulkheadRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(2, 0), nil)
		for range 2 {
			go try(d, after(time.Second, nil))
		}
		synctest.Wait()
		start := time.Now()
		err := try(d, succeed)
		wantOutcome(t, err, OutcomeRejectedLimit)
		if !errors.Is(err, &Rejected{Outcome: OutcomeRejectedLimit}) || errors.Is(err, &Rejected{Outcome: OutcomeRejectedOpen}) {
			t.Errorf("errors.Is does not tell rejections apart: %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
		time.Sleep(2 * time.Second)
		wantIdle(t, d)
	})
}

func TestDoneContextIsNeverAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(10, 0), nil)
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10_000 {
			_, err := Call(dead, d, func(context.Context) (int, error) { t.Fatal("ran with a dead context"); return 0, nil })
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error is %v", err)
			}
		}
	})
}

func TestCallerWhoLeavesTheLineIsNotAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(1, time.Minute), nil)
		ctx, cancel := context.WithCancel(t.Context())
		go try(d, func(context.Context) (int, error) {
			time.Sleep(time.Second)
			cancel() // in the same instant in which the slot becomes free
			return 0, nil
		})
		synctest.Wait()
		_, err := Call(ctx, d, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		synctest.Wait()
		wantIdle(t, d)
	})
}

func TestWaitsForASlotButNotForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(1, 100*time.Millisecond), nil)
		hold := func(d0 time.Duration) { go try(d, stubborn(d0, nil)); synctest.Wait() }

		hold(time.Millisecond)
		start := time.Now()
		if err := try(d, succeed); err != nil || time.Since(start) != time.Millisecond {
			t.Errorf("%v after %v, want a slot after 1 ms", err, time.Since(start))
		}

		hold(time.Second)
		start = time.Now()
		wantOutcome(t, try(d, succeed), OutcomeRejectedLimit)
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("refused after %v, want MaxWait", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start = time.Now()
		_, err := Call(ctx, d, succeed)
		wantOutcome(t, err, OutcomeRejectedLimit)
		if took := time.Since(start); took >= 50*time.Millisecond {
			t.Errorf("refused after %v, want it before the caller's deadline, when nothing could finish any more", took)
		}
		time.Sleep(time.Second)
		wantIdle(t, d)
	})
}

func TestLineIsFirstComeFirstServedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(3, time.Minute), nil)
		for i := range 3 {
			go try(d, stubborn(time.Duration(i+1)*time.Second, nil))
		}
		synctest.Wait()
		var order []int
		for i := range 3 {
			go try(d, func(context.Context) (int, error) {
				order = append(order, i) // one at a time: the slots become free a second apart
				return 0, nil
			})
			synctest.Wait()
		}
		if s := d.State(); s.Waiting != 3 {
			t.Errorf("%d wait, want 3", s.Waiting)
		}
		wantOutcome(t, try(d, succeed), OutcomeRejectedLimit) // the line is as long as the limit
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if !slices.Equal(order, []int{0, 1, 2}) {
			t.Errorf("served in the order %v", order)
		}
		wantIdle(t, d)
	})
}

func TestNeverMoreInFlightThanTheLimit(t *testing.T) {
	d := mustNew(t, bulkheadOf(7, time.Second), nil)
	var running, peak atomic.Int64
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for range 200 {
				try(d, func(context.Context) (int, error) {
					n := running.Add(1)
					defer running.Add(-1)
					for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
					}
					return 0, nil
				})
			}
		})
	}
	callers.Wait()
	if peak.Load() > 7 {
		t.Errorf("%d in flight, want at most 7", peak.Load())
	}
	wantIdle(t, d)
}

func TestSlotIsHeldUntilTheBodyReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := bulkheadOf(1, 0)
		cfg.Timeout.Total = 100 * time.Millisecond
		d := mustNew(t, cfg, nil)
		go try(d, stubborn(time.Second, nil)) // ignores its context, so it still runs after its timeout
		time.Sleep(500 * time.Millisecond)
		wantOutcome(t, try(d, succeed), OutcomeRejectedLimit)
		time.Sleep(time.Second)
		if err := try(d, succeed); err != nil {
			t.Error(err)
		}
	})
}

func TestSlotsComeBackHoweverTheBodyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, cfg := range []Config{bulkheadOf(5, 0), {Timeout: Timeout{Total: time.Hour}, Adaptive: Adaptive{Min: 5, Max: 5}}} {
			d := mustNew(t, cfg, nil)
			for _, fn := range []body{succeed, fail, panics, nilPanic, goexit, after(time.Hour, nil)} {
				for range 20 {
					surviving(func() { try(d, fn) })
				}
			}
			wantIdle(t, d)
		}
	})
}

func TestRejectionByTheBreakerGivesTheSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Bulkhead.Max = 2
		d := mustNew(t, cfg, nil)
		trip(t, d)
		for range 10_000 {
			wantOutcome(t, try(d, succeed), OutcomeRejectedOpen)
		}
		wantIdle(t, d)
	})
}

func TestWaitersBurnNoCPUAndEveryReleaseWakesOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(50, time.Minute), nil)
		start := time.Now()
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if err := try(d, stubborn(time.Second, nil)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait() // returns only when all are blocked for good: nobody spins
		if s := d.State(); s.InFlight != 50 || s.Waiting != 50 {
			t.Errorf("in flight %d, waiting %d, want 50 and 50", s.InFlight, s.Waiting)
		}
		callers.Wait()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("two rounds took %v, want 2 s", took)
		}
	})
}

func TestCallerLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, bulkheadOf(1, time.Minute), nil)
		go try(d, stubborn(time.Second, nil))
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		start := time.Now()
		_, err := Call(ctx, d, succeed)
		if took := time.Since(start); took != 100*time.Millisecond || !errors.Is(err, context.Canceled) {
			t.Errorf("%v after %v", err, took)
		}
		if s := d.State(); s.Waiting != 0 || s.InFlight != 1 {
			t.Errorf("state is %+v", s)
		}
		time.Sleep(time.Second)
	})
}
