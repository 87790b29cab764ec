package resilience

import (
	"context"
	"errors"
	"time"
)

// run is one attempt: the slot and the ticket it holds, and what became of it. It lives on the caller's stack, as does the call
// it belongs to; that is why it does not point to it.
type run struct {
	number  int
	ticket  ticket
	ctx     context.Context
	cancel  context.CancelFunc
	begun   time.Time
	outcome Outcome

	judged   bool // fn has returned
	cutShort bool // it ran out of a time that was too short to tell anything about the dependency
}

// attempt runs fn once, if the layers let it. Whatever fn does (return, panic, runtime.Goexit), what it held is given back and its
// outcome is counted.
func attempt[T any](c *call, fn func(context.Context) (T, error)) (v T, err error) {
	var r run
	if err := r.admit(c); err != nil {
		c.dep.events.deliver()
		return v, err
	}
	defer r.end(c, &err)
	r.begin(c)
	v, err = fn(r.ctx)
	err = r.judge(c, err)
	return v, err
}

// admit passes deadline, bulkhead and breaker, in this order.
func (r *run) admit(c *call) error {
	d := c.dep
	if err := c.startable(); err != nil {
		return err
	}
	ok, waited := d.limiter.acquire(c.ctx, c.wait())
	if waited {
		c.now = time.Now()
	}
	if !ok {
		return c.notAdmitted()
	}
	if waited {
		if err := c.startable(); err != nil {
			d.limiter.release()
			return err
		}
	}
	if d.breaker != nil {
		ticket, rejected := d.breaker.allow(c.now)
		if rejected != nil {
			d.limiter.release()
			c.outcome = rejected.Outcome
			return rejected
		}
		r.ticket = ticket
	}
	if c.rival != nil && !c.rival.beginSecond() { // the first has answered while this one stood in line
		d.limiter.release()
		if d.breaker != nil {
			d.breaker.report(r.ticket, OutcomeCanceled, 0, c.now)
		}
		c.outcome = OutcomeCanceled
		return context.Canceled
	}
	return nil
}

// startable tells why an attempt cannot be started now, if it cannot.
func (c *call) startable() error {
	if isCanceled(c.ctx) {
		c.outcome = OutcomeCanceled
		return c.ctx.Err()
	}
	left, ok := c.left()
	if c.ctx.Err() != nil || ok && left < c.dep.cfg.Timeout.Min {
		c.outcome = OutcomeRejectedDeadline
		return &Rejected{Dependency: c.dep.name, Outcome: OutcomeRejectedDeadline}
	}
	return nil
}

// wait is how long the attempt may stand in line for a slot: as configured, and not so long that it could not start afterwards.
func (c *call) wait() time.Duration {
	wait := max(c.dep.cfg.Bulkhead.MaxWait, c.dep.cfg.Adaptive.MaxWait)
	if left, ok := c.left(); ok {
		wait = min(wait, left-c.dep.cfg.Timeout.Min)
	}
	return wait
}

func (c *call) notAdmitted() error {
	if isCanceled(c.ctx) {
		c.outcome = OutcomeCanceled
		return c.ctx.Err()
	}
	c.outcome = OutcomeRejectedLimit
	return c.dep.full
}

// begin makes the attempt's context: what the observer adds, the number, and the earliest of all deadlines.
func (r *run) begin(c *call) {
	d := c.dep
	c.attempts++
	r.number, r.begun, r.ctx = c.attempts, c.now, c.ctx
	r.outcome = OutcomeFailure // unless judge says otherwise: a panic and Goexit never get there
	d.events.deliver()
	r.ctx = d.obs.OnAttempt(c.ctx, d.name, r.number)
	if AttemptFromContext(r.ctx) != r.number {
		r.ctx = context.WithValue(r.ctx, attemptKey{}, r.number)
	}
	if own := d.cfg.Timeout.Attempt; own > 0 {
		deadline := c.now.Add(own)
		if !c.deadline.IsZero() && c.deadline.Before(deadline) {
			deadline = c.deadline
		}
		r.ctx, r.cancel = context.WithDeadline(r.ctx, deadline)
	}
	if c.lanes != nil {
		c.lanes.enter(r.cancel)
	}
}

// judge turns what fn returned into an outcome, and names a timeout as one.
func (r *run) judge(c *call, err error) error {
	c.now = time.Now()
	took := c.now.Sub(r.begun)
	r.outcome = r.outcomeOf(c, err, took)
	r.judged = true
	if r.outcome == OutcomeTimeout {
		r.cutShort = r.ctx.Err() != nil && took < c.dep.cfg.Breaker.SlowAfter
		err = &TimeoutError{Dependency: c.dep.name, Attempt: r.number, After: took, Err: err}
	}
	return err
}

func (r *run) outcomeOf(c *call, err error, took time.Duration) Outcome {
	slowAfter := c.dep.cfg.Breaker.SlowAfter
	o := OutcomeSuccess
	if err != nil {
		o = c.dep.cfg.Classify(err)
	}
	switch {
	case o == OutcomeSuccess && slowAfter > 0 && took >= slowAfter:
		return OutcomeSlow
	case o != OutcomeFailure && o != OutcomeTimeout:
		return o
	case isCanceled(c.ctx) || c.lost():
		return OutcomeCanceled // whatever the error says: a connection closed under a query looks like a failure
	case errors.Is(r.ctx.Err(), context.DeadlineExceeded):
		return OutcomeTimeout // ours or the caller's: one that hangs must not hide behind impatient callers
	}
	return o
}

// end gives everything back and reports. It runs deferred: after a panic the outcome is still OutcomeFailure.
func (r *run) end(c *call, err *error) {
	d := c.dep
	if !r.judged {
		c.now = time.Now()
	}
	took := c.now.Sub(r.begun)
	if r.cancel != nil {
		r.cancel()
	}
	verdict := r.outcome
	if r.cutShort { // an impatient caller's, or the rest of Total: not even long enough to be slow
		verdict = OutcomeCanceled
	}
	d.limiter.releaseSample(verdict, r.begun, took, c.now)
	if d.breaker != nil {
		d.breaker.report(r.ticket, verdict, took, c.now)
	}
	if d.hedger != nil {
		d.hedger.sample(r.outcome, c.lost(), took)
	}
	c.outcome = r.outcome
	d.events.deliver()
	d.obs.OnAttemptDone(r.ctx, AttemptEvent{
		Dependency: d.name, Attempt: r.number, Outcome: r.outcome, Lost: r.outcome == OutcomeCanceled && c.beaten(), Duration: took, Err: *err,
	})
}
