package resilience

import (
	"context"
	"errors"
	"time"
)

// Call runs fn under the policy of d and returns what it returns. The layers stand in a fixed order, because most other orders
// are bugs:
//
//	deadline   the caller's or Timeout.Total, the earlier; nothing is started that cannot finish
//	retry      asks the budget before it sleeps, and never sleeps past the deadline
//	hedge      a second attempt when the first takes unusually long, from the same budget
//	bulkhead   outside the breaker: that we are full is not the dependency's failure
//	breaker    outside the attempt, inside the retry: it sees every attempt
//	attempt    one run of fn with a context of its own, canceled when fn returns
//
// fn runs on the caller's goroutine, must honour its context, and must be done with everything that hangs on it when it returns:
// read an HTTP body inside fn.
//
// An error of fn comes back as it is, or wrapped: in *TimeoutError when time ran out, in *AttemptsError when there was more
// than one attempt. A call that was not started, or not started again, is a *Rejected. A panic of fn counts as a failure
// and goes on to the caller.
func Call[T any](ctx context.Context, d *Dependency, fn func(context.Context) (T, error)) (v T, err error) {
	c := newCall(ctx, d)
	defer c.end(&err)
	for {
		if c.canRace() {
			v, err = raced(&c, fn)
		} else {
			v, err = attempt(&c, fn)
		}
		if err == nil || !c.again(err) {
			return v, c.finalError(err)
		}
	}
}

// CallOr is Call with a fallback, which is outermost: it hears why the call failed, whatever layer said so, and its value is the
// result. It should be cheap and local, for ctx may have no time left.
func CallOr[T any](ctx context.Context, d *Dependency, fn func(context.Context) (T, error), fallback func(ctx context.Context, cause error) T) T {
	v, err := Call(ctx, d, fn)
	if err != nil {
		return fallback(ctx, err)
	}
	return v
}

// Do is Call for a function without a value.
func Do(ctx context.Context, d *Dependency, fn func(context.Context) error) error {
	_, err := Call(ctx, d, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) })
	return err
}

// call is the state of one Call: it lives on the caller's stack.
type call struct {
	dep      *Dependency
	ctx      context.Context
	begun    time.Time
	now      time.Time // the latest reading of the clock, one per stage
	deadline time.Time // zero without one
	attempts int       // started so far
	onBackup int       // of these, by another Dependency
	outcome  Outcome   // of the call; of the latest attempt while it runs
	final    error     // replaces the last error, if set
	earlier  []error   // of attempts before the last, oldest first
	retries  int
	lanes    *lanes // while hedged
	rival    *lanes // of the second attempt of a race: where the first one is told to have answered
	hedge    HedgeResult
}

func newCall(ctx context.Context, d *Dependency) call {
	c := call{dep: d, ctx: d.obs.OnCallStart(unmarked(ctx), d.name), begun: time.Now(), outcome: OutcomeFailure}
	c.now = c.begun
	c.deadline, _ = ctx.Deadline()
	if total := d.cfg.Timeout.Total; total > 0 {
		if own := c.begun.Add(total); c.deadline.IsZero() || own.Before(c.deadline) {
			c.deadline = own
		}
	}
	if d.budget != nil {
		d.budget.deposit(c.begun)
	}
	if d.hedger != nil {
		d.hedger.cap.deposit(c.begun)
	}
	return c
}

// left returns the time until the deadline; ok is false without one.
func (c *call) left() (left time.Duration, ok bool) {
	return c.deadline.Sub(c.now), !c.deadline.IsZero()
}

// again decides whether the attempt that ended with err is repeated, and sleeps until then. The order matters: first whether it makes
// sense at all, then whether it can finish, then whether the budget allows it, and only then the pause. Each refusal keeps
// the error it could not mend.
func (c *call) again(err error) bool {
	d := c.dep
	if c.retries >= d.cfg.Retry.Max || !c.retryable(err) {
		return false
	}
	pause := max(d.cfg.Retry.pause(c.retries+1), retryAfter(err))
	if left, ok := c.left(); ok && left < pause+d.cfg.Timeout.Min {
		c.refuse(OutcomeRejectedDeadline, err)
		return false
	}
	if !d.budget.withdraw(c.now) {
		c.refuse(OutcomeRejectedBudget, err)
		return false
	}
	c.retries++
	c.earlier = append(c.earlier, err)
	c.sleep(pause)
	return true
}

// retryable tells whether the latest outcome may be mended by another attempt.
func (c *call) retryable(err error) bool {
	if c.callerDone() || onlyOnce(c.ctx) {
		return false
	}
	switch c.outcome {
	case OutcomeSuccess, OutcomeSlow, OutcomeFailure, OutcomeTimeout:
		return c.dep.cfg.Retry.When(err)
	default: // canceled by the caller, or refused by a layer: trying again would only be refused again
		return false
	}
}

// callerDone tells whether the caller has left or is out of time. An attempt that ends at the caller's deadline may be back an instant
// before the caller's own context has noticed.
func (c *call) callerDone() bool {
	deadline, ok := c.ctx.Deadline()
	return c.ctx.Err() != nil || ok && !c.now.Before(deadline)
}

func (c *call) refuse(o Outcome, cause error) {
	c.outcome = o
	c.final = &Rejected{Dependency: c.dep.name, Outcome: o, RetryAfter: retryAfter(cause), Cause: c.joined(cause)}
}

func (c *call) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done(): // the next attempt will notice
	}
	c.now = time.Now()
}

func (c *call) finalError(err error) error {
	switch {
	case err == nil:
		return nil
	case c.final != nil:
		return c.final
	}
	return c.joined(err)
}

// joined returns err together with the errors of the earlier attempts.
func (c *call) joined(err error) error {
	if len(c.earlier) == 0 {
		return err
	}
	return &AttemptsError{Dependency: c.dep.name, Errs: append(c.earlier, err)}
}

// end reports the call. It runs deferred, so that a panic of fn is a call too.
func (c *call) end(err *error) {
	c.dep.obs.OnCall(c.ctx, CallEvent{
		Dependency: c.dep.name, Outcome: c.outcome, Duration: c.now.Sub(c.begun), Attempts: c.attempts, OnBackup: c.onBackup,
		Hedge: c.hedge, Err: *err,
	})
}

// isCanceled tells whether the caller has left, as opposed to having run out of time.
func isCanceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
