package resilience

import (
	"context"
	"log/slog"
	"time"
)

// BreakerState is the state of a breaker, as it stands in metric labels.
type BreakerState string

// The three states.
const (
	BreakerClosed   BreakerState = "closed"    // calls pass
	BreakerOpen     BreakerState = "open"      // calls are refused
	BreakerHalfOpen BreakerState = "half_open" // a few calls pass as probes
)

// Observer hears everything that happens to a Dependency, outside every lock: it may call any method of it. Its methods run on
// the goroutine of the call they are about and should be quick; they must be safe for concurrent use. A panic
// in one of them is logged and harms nobody.
type Observer interface {
	// OnCallStart announces a logical call and returns the context it will run with: the caller's, or one derived from it that
	// carries a span. What a Dependency is asked as the Hedge.Backup of another is a logical call of its own, of one attempt.
	OnCallStart(ctx context.Context, dependency string) context.Context

	// OnCall reports the end of a logical call, once each, whatever became of it, with the context of OnCallStart.
	OnCall(ctx context.Context, e CallEvent)

	// OnAttempt announces an attempt, 1 for the first, and returns the context it will run with: ctx, or one derived from
	// it that carries a span. Refused attempts are not announced. IsHedge and OnBackup tell what kind of attempt it is.
	OnAttempt(ctx context.Context, dependency string, attempt int) context.Context

	// OnAttemptDone reports the end of an attempt with its own context.
	OnAttemptDone(ctx context.Context, e AttemptEvent)

	// OnTransition reports changes of the breaker's state, one at a time and in order. It has no context, because none would be
	// right: a transition belongs to the many calls whose results led to it, and one by hand to no call at all. The goroutine
	// that delivers it may be that of yet another call.
	OnTransition(e TransitionEvent)
}

// CallEvent is the end of one logical call.
type CallEvent struct {
	Dependency string
	Outcome    Outcome
	Duration   time.Duration // waiting and pauses included
	Attempts   int           // started; 0 if the call was refused
	OnBackup   int           // of these, by Hedge.Backup, whose observer has heard of them
	Hedge      HedgeResult   // "" if it could not have been hedged
	Err        error         // what Call returned; a success has one too if it is an answer ("no such user")
}

// AttemptEvent is the end of one attempt.
type AttemptEvent struct {
	Dependency string
	Attempt    int // 1 for the first
	Outcome    Outcome
	Lost       bool // canceled, because another attempt of the same call has answered first
	Duration   time.Duration
	Err        error // nil after a panic
}

// TransitionEvent is a change of a breaker's state, with the counts that caused it.
type TransitionEvent struct {
	Dependency string
	From, To   BreakerState
	At         time.Time
	Reason     string // for people
	Calls      int    // results in the window, or of the probes
	Failures   int
	Slow       int
}

// NopObserver observes nothing. Embed it to implement a part of Observer.
type NopObserver struct{}

// OnCallStart returns ctx.
func (NopObserver) OnCallStart(ctx context.Context, _ string) context.Context { return ctx }

// OnCall does nothing.
func (NopObserver) OnCall(context.Context, CallEvent) {}

// OnAttempt returns ctx.
func (NopObserver) OnAttempt(ctx context.Context, _ string, _ int) context.Context { return ctx }

// OnAttemptDone does nothing.
func (NopObserver) OnAttemptDone(context.Context, AttemptEvent) {}

// OnTransition does nothing.
func (NopObserver) OnTransition(TransitionEvent) {}

// guard keeps a panic of an observer away from the call it observes.
type guard struct{ obs Observer }

func (g guard) OnCallStart(ctx context.Context, dependency string) (derived context.Context) {
	defer func() {
		if derived == nil {
			derived = ctx
		}
	}()
	defer catch()
	return g.obs.OnCallStart(ctx, dependency)
}

func (g guard) OnCall(ctx context.Context, e CallEvent) {
	defer catch()
	g.obs.OnCall(ctx, e)
}

func (g guard) OnAttempt(ctx context.Context, dependency string, attempt int) (derived context.Context) {
	defer func() {
		if derived == nil {
			derived = ctx
		}
	}()
	defer catch()
	return g.obs.OnAttempt(ctx, dependency, attempt)
}

func (g guard) OnAttemptDone(ctx context.Context, e AttemptEvent) {
	defer catch()
	g.obs.OnAttemptDone(ctx, e)
}

func (g guard) OnTransition(e TransitionEvent) {
	defer catch()
	g.obs.OnTransition(e)
}

func catch() {
	if p := recover(); p != nil {
		slog.Error("resilience: an observer panicked", "panic", p)
	}
}
