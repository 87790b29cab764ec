package resilience

import (
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

// breaker is a circuit breaker (article 1, "Circuit Breaker"). The state machine is gobreaker's two-step one: how the states follow
// each other, who may probe, when half-open ends. Judging the results of the closed state is done here, because gobreaker
// books a result under the time its call began (an outage slower than its window is never seen), knows no slow calls, and
// counts failures in a row without regard to how long the row is. So gobreaker is asked when there is something to decide: while
// the breaker is closed, a call costs neither its lock, nor its two readings of the clock, nor its allocation.
//
// One lock guards both, so that state, counts and the order of events cannot disagree; it is never held while foreign code runs.
type breaker struct {
	name   string
	cfg    Breaker
	lease  time.Duration // how long a probe may take before it counts as failed
	events *events

	mu        sync.Mutex
	machine   *gobreaker.TwoStepCircuitBreaker[struct{}]
	state     BreakerState
	episode   uint64    // grows with each change of state; results of an older one have no vote
	openUntil time.Time // while open
	held      bool      // by hand: open until released, or closed whatever the results say
	now       time.Time // of the operation in progress, for changed
	reason    string    // why the operation in progress may change the state
	window    window
	run       failureRun
	probes    []ticket
	lastID    uint64
	rejection *Rejected
}

// ticket is the right to make one call; it is handed back with the call's outcome.
type ticket struct {
	id      uint64
	episode uint64
	begun   time.Time
	done    func(error) // of a probe, for gobreaker
}

// What is told to gobreaker.
var (
	errBad     = errors.New("counts against the dependency")
	errNeutral = errors.New("says nothing about the dependency")
)

func newBreaker(name string, cfg Config, q *events) *breaker {
	b := &breaker{
		name: name, cfg: cfg.Breaker, events: q, state: BreakerClosed,
		// Twice an attempt's time, because a body that honours its context is back by then; at least a second, so that a
		// stalled machine does not condemn a healthy dependency.
		lease:  max(2*cfg.Timeout.Attempt, time.Second),
		window: newWindow(cfg.Breaker.Window, time.Now()),
		probes: make([]ticket, 0, cfg.Breaker.Probes),
	}
	if cfg.Timeout.Attempt == 0 {
		b.lease = max(b.lease, b.cfg.OpenFor)
	}
	b.machine = b.newMachine()
	return b
}

// newMachine returns a closed state machine.
func (b *breaker) newMachine() *gobreaker.TwoStepCircuitBreaker[struct{}] {
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:   uint32(b.cfg.Successes),
		Timeout:       1,                                           // the open period is ours (openUntil): jittered anew each time, or set by hand
		ReadyToTrip:   func(gobreaker.Counts) bool { return true }, // see trip
		OnStateChange: func(_ string, _, to gobreaker.State) { b.changed(to) },
		IsExcluded:    func(err error) bool { return err == errNeutral },
	})
}

// allow asks for a ticket. After it and after report, the caller delivers the events, when it has put itself in order.
func (b *breaker) allow(now time.Time) (ticket, *Rejected) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now
	if b.state == BreakerHalfOpen {
		b.expireProbe(now)
	}
	if open := b.openFor(now); open > 0 {
		return ticket{}, b.reject(OutcomeRejectedOpen, open)
	}
	if b.state == BreakerHalfOpen && len(b.probes) >= b.cfg.Probes {
		return ticket{}, b.reject(OutcomeRejectedHalfOpen, b.probes[0].begun.Add(b.lease).Sub(now))
	}
	var done func(error)
	if b.state != BreakerClosed {
		var err error
		b.reason = "open time is over"
		if done, err = b.machine.Allow(); err != nil { // as many probes as Successes are out or have answered
			return ticket{}, b.reject(OutcomeRejectedHalfOpen, b.lease)
		}
	}
	b.lastID++
	t := ticket{id: b.lastID, episode: b.episode, begun: now, done: done}
	if b.state == BreakerHalfOpen {
		b.probes = append(b.probes, t)
	}
	return t, nil
}

// trip opens the closed breaker: gobreaker, asked for a ticket and given it back as bad, opens at once.
func (b *breaker) trip(reason string) {
	b.reason = reason
	if done, err := b.machine.Allow(); err == nil {
		done(errBad)
	}
}

// expireProbe ends a half-open state whose oldest probe has hung for longer than its lease: it counts as failed, and what it may
// say later is of an older episode. This is done when somebody asks, so a breaker nobody uses needs no timer.
func (b *breaker) expireProbe(now time.Time) {
	if len(b.probes) > 0 && now.Sub(b.probes[0].begun) >= b.lease {
		b.reason = "a probe has hung"
		b.window.at(now).calls++
		b.window.at(now).failures++
		b.probes[0].done(errBad)
	}
}

// reject returns the error of a refused call. While the breaker is open, thousands of calls a second may get it, so
// one is shared until its RetryAfter is off by more than a tenth of a second.
func (b *breaker) reject(o Outcome, retryAfter time.Duration) *Rejected {
	const tolerance = 100 * time.Millisecond
	r := b.rejection
	if r == nil || r.Outcome != o || retryAfter > r.RetryAfter || r.RetryAfter-retryAfter > tolerance {
		r = &Rejected{Dependency: b.name, Outcome: o, RetryAfter: retryAfter}
		b.rejection = r
	}
	return r
}
