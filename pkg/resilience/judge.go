package resilience

import (
	"slices"
	"time"
)

// report hands a ticket back with what became of its call.
func (b *breaker) report(t ticket, o Outcome, took time.Duration, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.episode == b.episode {
		b.book(t, o, took, now)
	}
}

func (b *breaker) book(t ticket, o Outcome, took time.Duration, now time.Time) {
	b.now = now
	b.probes = slices.DeleteFunc(b.probes, func(p ticket) bool { return p.id == t.id })
	bad := o == OutcomeFailure || o == OutcomeTimeout
	slow := o == OutcomeSlow || b.cfg.SlowAfter > 0 && took >= b.cfg.SlowAfter
	if !bad && !o.answered() {
		if t.done != nil {
			t.done(errNeutral)
		}
		return
	}

	c := b.window.at(now)
	c.calls++
	if bad {
		c.failures++
	}
	if slow {
		c.slow++
	}
	if b.state == BreakerHalfOpen {
		b.bookProbe(t, bad, slow)
		return
	}
	b.run.add(bad, t.begun, now)
	if (bad || slow) && !b.held { // a good result may complete MinCalls, but is no reason to stop calling
		if reason := b.verdict(now); reason != "" {
			b.trip(reason)
		}
	}
}

func (b *breaker) bookProbe(t ticket, bad, slow bool) {
	switch {
	case bad:
		b.reason = "a probe failed"
		t.done(errBad)
	case slow && b.cfg.SlowRatio > 0:
		b.reason = "a probe was slow"
		t.done(errBad)
	default:
		b.reason = "probes succeeded"
		t.done(nil)
	}
}

// verdict says why the closed breaker should open now, or "".
func (b *breaker) verdict(now time.Time) string {
	if b.cfg.ConsecutiveFailures > 0 && b.run.n >= b.cfg.ConsecutiveFailures && now.Sub(b.run.firstEnd) >= runSpan {
		return "consecutive failures"
	}
	c := b.window.sum(now)
	atLeast := func(n int, ratio float64) bool {
		return ratio > 0 && c.calls >= b.cfg.MinCalls && float64(n) >= ratio*float64(c.calls)
	}
	switch {
	case atLeast(c.failures, b.cfg.FailureRatio):
		return "failure ratio"
	case atLeast(c.slow, b.cfg.SlowRatio):
		return "slow ratio"
	}
	return ""
}
