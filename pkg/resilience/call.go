package resilience

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Call runs fn under the policy of d.
func Call[T any](ctx context.Context, d *Dependency, fn func(context.Context) (T, error)) (T, error) {
	start := time.Now()
	v, outcome, err := attempt(ctx, d, fn)
	d.obs.OnCall(ctx, CallEvent{Dependency: d.name, Outcome: outcome, Duration: time.Since(start), Attempts: 1, Err: err})
	return v, err
}

// CallOr is Call with a fallback that hears why the call failed.
func CallOr[T any](ctx context.Context, d *Dependency, fn func(context.Context) (T, error), fallback func(ctx context.Context, cause error) T) T {
	v, err := Call(ctx, d, fn)
	if err != nil {
		return fallback(ctx, err)
	}
	return v
}

// Do is Call without a value.
func Do(ctx context.Context, d *Dependency, fn func(context.Context) error) error {
	_, err := Call(ctx, d, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) })
	return err
}

func attempt[T any](ctx context.Context, d *Dependency, fn func(context.Context) (T, error)) (v T, outcome Outcome, err error) {
	parent := ctx
	if err := ctx.Err(); err != nil {
		return v, OutcomeCanceled, err
	}
	if d.slots != nil {
		select {
		case d.slots <- struct{}{}:
			defer func() { <-d.slots }()
		default:
			return v, OutcomeRejectedLimit, &Rejected{Dependency: d.name, Outcome: OutcomeRejectedLimit}
		}
	}
	if d.breaker != nil {
		done, berr := d.breaker.Allow()
		if berr != nil {
			o := OutcomeRejectedOpen
			if errors.Is(berr, gobreaker.ErrTooManyRequests) {
				o = OutcomeRejectedHalfOpen
			}
			return v, o, &Rejected{Dependency: d.name, Outcome: o, RetryAfter: d.cfg.Breaker.OpenFor}
		}
		outcome = OutcomeFailure
		defer func() {
			switch outcome {
			case OutcomeFailure, OutcomeTimeout:
				done(errors.New("failed"))
			case OutcomeCanceled:
				done(context.Canceled)
			default:
				done(nil)
			}
		}()
	}
	d.inFlight.Add(1)
	defer d.inFlight.Add(-1)
	start := time.Now()
	ctx = d.obs.OnAttempt(ctx, d.name, 1)
	if t := d.cfg.Timeout; t.Total > 0 {
		if t.Attempt == 0 {
			t.Attempt = t.Total
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Attempt)
		defer cancel()
	}
	v, err = fn(ctx)
	outcome = d.cfg.Classify(err)
	if err != nil && errors.Is(parent.Err(), context.Canceled) {
		outcome = OutcomeCanceled
	}
	d.obs.OnAttemptDone(ctx, AttemptEvent{Dependency: d.name, Attempt: 1, Outcome: outcome, Duration: time.Since(start), Err: err})
	return v, outcome, err
}
