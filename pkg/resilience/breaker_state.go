package resilience

import (
	"math/rand/v2"
	"time"

	"github.com/sony/gobreaker/v2"
)

// changed is called by gobreaker, under both locks, when the state changes.
func (b *breaker) changed(to gobreaker.State) {
	from := b.state
	switch to {
	case gobreaker.StateOpen:
		b.openUntil = b.now.Add(jitterDown(b.cfg.OpenFor)) // before the state says open, or the next call would be a probe
		b.state = BreakerOpen
	case gobreaker.StateHalfOpen:
		b.state = BreakerHalfOpen
	default:
		b.state = BreakerClosed
	}
	c := b.window.sum(b.now)
	b.events.add(TransitionEvent{
		Dependency: b.name, From: from, To: b.state, At: b.now, Reason: b.reason,
		Calls: c.calls, Failures: c.failures, Slow: c.slow,
	})
	b.episode++
	b.window.reset()
	b.run = failureRun{}
	b.probes = b.probes[:0]
}

// read returns the state a call would meet at now and, when open, how long it stays so. It changes nothing: a scrape of the
// metrics must not start a probe.
func (b *breaker) read(now time.Time) (state BreakerState, openFor time.Duration, held bool, c counts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state, openFor = b.state, b.openFor(now)
	if state == BreakerOpen && openFor == 0 {
		state = BreakerHalfOpen
	}
	return state, openFor, b.held, b.window.sum(now)
}

func (b *breaker) probesOut() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != BreakerHalfOpen {
		return 0
	}
	return len(b.probes)
}

// openFor returns how long calls are refused from now on, 0 if they are not. A breaker held open by hand does not know; it
// says what an ordinary opening would.
func (b *breaker) openFor(now time.Time) time.Duration {
	switch {
	case b.state != BreakerOpen:
		return 0
	case b.held:
		return b.cfg.OpenFor
	}
	return max(b.openUntil.Sub(now), 0)
}

// jitterDown shortens d by up to 20 %, so that the replicas of a service do not all probe in the same instant.
func jitterDown(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d)/5+1))
}
