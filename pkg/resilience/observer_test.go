package resilience

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// hooks is an Observer made of functions.
type hooks struct {
	NopObserver
	start      func(context.Context) context.Context
	ended      func(context.Context)
	attempt    func(context.Context) context.Context
	done       func(context.Context)
	transition func(TransitionEvent)
}

func (h *hooks) OnCallStart(ctx context.Context, _ string) context.Context {
	if h.start == nil {
		return ctx
	}
	return h.start(ctx)
}

func (h *hooks) OnCall(ctx context.Context, _ CallEvent) {
	if h.ended != nil {
		h.ended(ctx)
	}
}

func (h *hooks) OnAttempt(ctx context.Context, _ string, _ int) context.Context {
	if h.attempt == nil {
		return ctx
	}
	return h.attempt(ctx)
}

func (h *hooks) OnAttemptDone(ctx context.Context, _ AttemptEvent) {
	if h.done != nil {
		h.done(ctx)
	}
}

func (h *hooks) OnTransition(e TransitionEvent) { h.transition(e) }

func TestObserverMayCallAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *Dependency
		calls := 0
		d = mustNew(t, breakerOn3(), &hooks{transition: func(TransitionEvent) {
			calls++
			_ = d.State()
			_ = d.Describe()
			try(d, succeed)
		}})
		trip(t, d)
		if calls != 1 {
			t.Errorf("told %d times, want once", calls)
		}
	})
}

func TestTransitionsComeInOrderOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []TransitionEvent
		running := 0
		cfg := breakerOnHalf()
		cfg.Breaker.OpenFor = 10 * time.Millisecond
		d := mustNew(t, cfg, &hooks{transition: func(e TransitionEvent) {
			mu.Lock()
			running++
			if running > 1 {
				t.Error("two at once")
			}
			got = append(got, e)
			mu.Unlock()
			time.Sleep(37 * time.Millisecond) // slower than the transitions come
			mu.Lock()
			running--
			mu.Unlock()
		}})
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				for j := range 300 {
					fn := fail
					if (i+j)%7 == 0 {
						fn = succeed
					}
					try(d, fn)
					time.Sleep(time.Duration(5+i) * time.Millisecond)
				}
			})
		}
		callers.Wait()
		synctest.Wait()
		if len(got) < 10 {
			t.Fatalf("only %d transitions", len(got))
		}
		for i := 1; i < len(got); i++ {
			if got[i].From != got[i-1].To || got[i].At.Before(got[i-1].At) {
				t.Fatalf("event %d goes from %s at %v after %s at %v", i, got[i].From, got[i].At, got[i-1].To, got[i-1].At)
			}
		}
	})
}

func TestNoTransitionsAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, breakerOn3(), obs)
		d.Close()
		trip(t, d)
		if got := obs.path(); len(got) != 0 {
			t.Errorf("told of %v", got)
		}
	})
}

func TestObserverThatPanicsHarmsNobody(t *testing.T) {
	quiet := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	defer slog.SetDefault(quiet)
	for name, boom := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var path []BreakerState
				start := func(context.Context) context.Context {
					if name == "panic" {
						boom()
					}
					return nil // no context at all is no better
				}
				d := mustNew(t, breakerOn3(), &hooks{
					start:   start,
					attempt: start,
					done:    func(context.Context) { boom() },
					transition: func(e TransitionEvent) {
						path = append(path, e.To)
						if e.To == BreakerOpen {
							boom()
						}
					},
				})
				returned := 0
				for range 3 {
					surviving(func() {
						if err := try(d, fail); err == errDown {
							returned++
						}
					})
					time.Sleep(300 * time.Millisecond)
				}
				if name == "panic" && returned != 3 {
					t.Errorf("%d of 3 calls returned their own error", returned)
				}
				waitOpen(d)
				surviving(func() { try(d, succeed) })
				wantState(t, d, BreakerClosed)
				wantIdle(t, d)
				if want := []BreakerState{BreakerOpen, BreakerHalfOpen, BreakerClosed}; !slices.Equal(path, want) {
					t.Errorf("told of %v, want %v", path, want)
				}
			})
		})
	}
}

func TestSpansOfTheObserverReachTheBodyAndTheirEnd(t *testing.T) {
	type spanKey struct{}
	named := func(name string) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context {
			parent, _ := ctx.Value(spanKey{}).(string)
			return context.WithValue(ctx, spanKey{}, parent+name)
		}
	}
	var attemptEnded, callEnded any
	d := mustNew(t, Config{}, &hooks{
		start:   named("call"),
		attempt: named(", attempt"),
		done:    func(ctx context.Context) { attemptEnded = ctx.Value(spanKey{}) },
		ended:   func(ctx context.Context) { callEnded = ctx.Value(spanKey{}) },
	})
	try(d, func(ctx context.Context) (int, error) {
		if got := ctx.Value(spanKey{}); got != "call, attempt" {
			t.Errorf("fn sees %v", got)
		}
		return 0, nil
	})
	if attemptEnded != "call, attempt" || callEnded != "call" {
		t.Errorf("OnAttemptDone sees %v, OnCall %v", attemptEnded, callEnded)
	}
}

// Of two attempts at once one answers. Whoever draws the picture of the call wants to know that the other was not the caller's doing.
func TestLoserOfARaceIsTold(t *testing.T) {
	never := after(time.Hour, nil)
	leave := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(25*time.Millisecond, cancel)
		return ctx, cancel
	}
	stay := context.WithCancel
	for name, c := range map[string]struct {
		caller        func(context.Context) (context.Context, context.CancelFunc)
		first, second body
		lost          []bool // of the first and of the second
	}{
		"the second answers":                {stay, never, after(5*time.Millisecond, nil), []bool{true, false}},
		"the first answers":                 {stay, after(20*time.Millisecond, nil), never, []bool{false, true}},
		"the caller leaves":                 {leave, never, never, []bool{false, false}},
		"one fails, then the caller leaves": {leave, after(20*time.Millisecond, errDown), never, []bool{false, false}},
		"both fail":                         {stay, after(20*time.Millisecond, errDown), after(50*time.Millisecond, errDown), []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs := &recorder{}
				d := mustNew(t, hedging(), obs)
				warmUp(d)
				ctx, cancel := c.caller(t.Context())
				defer cancel()
				Call(ctx, d, func(ctx context.Context) (int, error) {
					if IsHedge(ctx) != (AttemptFromContext(ctx) == 2) {
						t.Errorf("attempt %d is a hedge: %t", AttemptFromContext(ctx), IsHedge(ctx))
					}
					return byAttempt(c.first, c.second)(ctx)
				})
				synctest.Wait()
				both := obs.attempts[len(obs.attempts)-2:]
				for _, e := range both {
					if want := c.lost[e.Attempt-1]; e.Lost != want {
						t.Errorf("attempt %d, %s: lost is %t, want %t", e.Attempt, e.Outcome, e.Lost, want)
					}
				}
			})
		})
	}
}

func TestAdmittedAndRejectedAddUpToOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := retryTwice()
		cfg.Breaker = Breaker{FailureRatio: 0.5, MinCalls: 10, OpenFor: time.Second}
		cfg.Bulkhead.Max = 8
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		bodies := []body{succeed, fail, after(200*time.Millisecond, nil), after(time.Hour, nil), panics, goexit}
		const offered = 3000
		var callers sync.WaitGroup
		for i := range offered {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				surviving(func() { try(d, bodies[(i/100+i)%len(bodies)]) })
			})
		}
		callers.Wait()
		sum := 0
		for _, n := range obs.outcomes() {
			sum += n
		}
		if sum != offered {
			t.Errorf("%d outcomes for %d calls: %v", sum, offered, obs.outcomes())
		}
		opened, closed := 0, 0
		for _, e := range obs.transitions {
			switch {
			case e.From == BreakerClosed:
				opened++
			case e.To == BreakerClosed:
				closed++
			}
			if closed > opened || opened > closed+1 {
				t.Fatalf("opened %d times and closed %d", opened, closed)
			}
		}
		wantIdle(t, d)
	})
}
