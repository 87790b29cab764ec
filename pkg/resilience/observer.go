package resilience

import (
	"context"
	"time"
)

// BreakerState is a state of a breaker.
type BreakerState string

// The three states.
const (
	BreakerClosed   BreakerState = "closed"
	BreakerOpen     BreakerState = "open"
	BreakerHalfOpen BreakerState = "half_open"
)

// Observer hears what happens to a dependency.
type Observer interface {
	OnCall(ctx context.Context, e CallEvent)
	OnAttempt(ctx context.Context, dependency string, attempt int) context.Context
	OnAttemptDone(ctx context.Context, e AttemptEvent)
	OnTransition(e TransitionEvent)
}

// CallEvent is the end of one logical call.
type CallEvent struct {
	Dependency string
	Outcome    Outcome
	Duration   time.Duration
	Attempts   int
	Err        error
}

// AttemptEvent is the end of one attempt.
type AttemptEvent struct {
	Dependency string
	Attempt    int
	Outcome    Outcome
	Duration   time.Duration
	Err        error
}

// TransitionEvent is a change of a breaker's state with the counts that caused it.
type TransitionEvent struct {
	Dependency string
	From, To   BreakerState
	At         time.Time
	Reason     string
	Calls      int // in the window
	Failures   int
	Slow       int
}

// NopObserver ignores everything. Embed it to implement part of Observer.
type NopObserver struct{}

// OnCall does nothing.
func (NopObserver) OnCall(context.Context, CallEvent) {}

// OnAttempt returns ctx.
func (NopObserver) OnAttempt(ctx context.Context, _ string, _ int) context.Context { return ctx }

// OnAttemptDone does nothing.
func (NopObserver) OnAttemptDone(context.Context, AttemptEvent) {}

// OnTransition does nothing.
func (NopObserver) OnTransition(TransitionEvent) {}
