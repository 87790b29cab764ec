package resilience

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// race is a call that may have two attempts at once. The first runs on the caller's goroutine; a timer may start the second on
// another. Only an answer ends the race: a failure waits for the other attempt.
type race[T any] struct {
	lanes
	from        *Dependency
	fn          func(context.Context) (T, error)
	timer       *time.Timer
	firstNumber int

	ctx context.Context // of the second attempt

	// The second attempt. Written by its goroutine until ended is closed, read by the caller afterwards.
	second call
	ended  chan struct{} // nil until it has started
	value  T
	err    error
	panic  any
}

// raced makes an attempt of c and, if it takes too long, another.
func raced[T any](c *call, fn func(context.Context) (T, error)) (T, error) {
	r := &race[T]{from: c.dep, fn: fn, firstNumber: c.attempts + 1}
	r.second = call{
		dep: c.dep.hedgeTarget(), ctx: c.ctx, deadline: c.deadline, outcome: OutcomeFailure, attempts: r.firstNumber, rival: &r.lanes,
	}
	if delay, ok := c.dep.hedger.hedgeDelay(); ok {
		r.timer = time.AfterFunc(delay, r.hedge)
	}
	defer r.abandon(c) // fn may panic
	c.lanes = &r.lanes
	v, err := attempt(c, fn)
	c.lanes = nil

	started := r.firstEnded(c.outcome.answered(), c.ctx.Err() != nil)
	switch {
	case c.outcome.answered():
		c.hedge = r.resultOfFirst(started)
	case started:
		return r.await(c, v, err)
	case c.mayFailOver(err):
		r.open(time.Now(), false)
		r.run()
		return r.await(c, v, err)
	}
	return v, err
}

// hedge runs on the timer's goroutine.
func (r *race[T]) hedge() {
	if !r.open(time.Now(), true) {
		return
	}
	r.run()
	if r.panic != nil && r.stands().over { // nobody is waiting for it any more
		slog.Error("resilience: a hedged attempt panicked", "dependency", r.second.dep.name, "panic", r.err)
	}
}

// open makes the second attempt ready to run. A hedge must be allowed, and comes to nothing if the race is over; an attempt that
// the caller makes itself needs neither.
func (r *race[T]) open(now time.Time, hedge bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hedge && r.ended != nil { // the first has failed, and the caller has asked the backup since
		return false
	}
	if hedge && (r.over || !r.from.mayHedge(now)) {
		r.suppressed = !r.over
		return false
	}
	// With the deadline of the call, so that the caller need not wait for an fn that ignores its context.
	r.ctx, r.cancelSecond = context.WithDeadline(marked(r.second.ctx, hedge, r.onBackup()), r.second.deadline)
	r.second.begun, r.second.now = now, now
	r.over = false
	r.ended = make(chan struct{})
	return true
}

// run makes the second attempt. However fn ends there, the process survives, and the caller hears of it.
func (r *race[T]) run() {
	r.err = errors.New("fn ended its goroutine")
	defer func() {
		if p := recover(); p != nil {
			r.panic, r.err = p, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if r.second.outcome.answered() && !r.win() {
			r.discard()
		}
		if r.onBackup() {
			r.second.attempts -= r.firstNumber
			r.second.end(&r.err)
		}
		close(r.ended)
		r.cancelSecond()
	}()
	r.second.ctx = r.ctx
	if r.onBackup() { // whose observer hears of a call, or nobody would count what the backup refuses
		r.second.ctx = r.second.dep.obs.OnCallStart(r.ctx, r.second.dep.name)
	}
	r.value, r.err = attempt(&r.second, r.fn)
}

func (r *race[T]) onBackup() bool { return r.second.dep != r.from }

// await returns what the second attempt brings, after the first has failed with err.
func (r *race[T]) await(c *call, v T, err error) (T, error) {
	c.hedge = HedgeBothFailed
	select {
	case <-r.ended:
	case <-r.ctx.Done():
		if !r.hasEnded() { // out of time, or the caller has left
			return v, err
		}
	}
	c.now = time.Now()
	if r.panic != nil {
		panic(r.err)
	}
	if r.stands().secondBegun {
		c.outcome = r.second.outcome
	} else if c.attempts == r.firstNumber {
		c.hedge = HedgeSuppressed
		return v, err // the first has been made: what it died of is the news, and may be worth a retry
	}
	if r.second.outcome.answered() {
		c.hedge = HedgeBackupWon
		return r.value, r.err
	}
	return v, &AttemptsError{Dependency: r.from.name, Errs: []error{err, r.err}}
}

func (r *race[T]) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// firstEnded notes that the first attempt has ended, and tells whether the second has started. Unless it has, and is still
// needed, the race is over.
func (r *race[T]) firstEnded(answered, left bool) (started bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	started = r.ended != nil
	if answered || left || !started {
		r.over = true
	}
	r.firstWon = answered && !r.secondWon
	return started
}

// resultOfFirst says what came of hedging when the first attempt has succeeded.
func (r *race[T]) resultOfFirst(started bool) HedgeResult {
	switch s := r.stands(); {
	case s.secondWon: // both have: in the same instant, or because the first ignores its context
		<-r.ended
		r.discard()
		return HedgePrimaryWon
	case s.secondBegun:
		return HedgePrimaryWon
	case started || s.suppressed:
		return HedgeSuppressed
	}
	return HedgeNotNeeded
}

// abandon ends what is still running. From here on nothing can begin, so this is where the second attempt is counted: one that
// was refused, or still stands in line, has never been made.
func (r *race[T]) abandon(c *call) {
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.secondBegun {
		c.attempts++
		if r.onBackup() {
			c.onBackup++
		}
	}
	if r.cancelSecond != nil {
		r.cancelSecond()
	}
}

// discard closes a value nobody will see.
func (r *race[T]) discard() {
	if r.err != nil {
		return
	}
	switch v := any(r.value).(type) {
	case *http.Response:
		if v != nil {
			v.Body.Close()
		}
	case io.Closer:
		v.Close()
	}
}
