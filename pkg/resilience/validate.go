package resilience

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// validate names every problem of a configuration at once: numbers out of range, and combinations that look fine one by one
// but cannot do what they promise together. It expects the defaults to be filled in.
func (c Config) validate(name string) error {
	p := problems{name: name}
	p.check(validName(name), "the name must be 1 to 64 printable characters without spaces or quotes")
	c.validateTimeout(&p)
	c.validateBulkhead(&p)
	c.validateBreaker(&p)
	c.validateRetry(&p)
	c.validateHedge(&p)
	p.check(!c.Optional || !c.Breaker.enabled() || c.Fallback != "",
		"Breaker without a Fallback: callers have declared to do without (Optional), and an open breaker refuses every call")
	return errors.Join(p.found...)
}

type problems struct {
	name  string
	found []error
}

func (p *problems) check(ok bool, format string, args ...any) {
	if !ok {
		p.found = append(p.found, fmt.Errorf("resilience: %s: %s", p.name, fmt.Sprintf(format, args...)))
	}
}

// validName keeps names usable as a metric label and in a log line.
func validName(name string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, odd) < 0
}

func (c Config) validateTimeout(p *problems) {
	t := c.Timeout
	p.check(t.Total >= 0, "Timeout.Total is negative (%v)", t.Total)
	p.check(t.Attempt >= 0, "Timeout.Attempt is negative (%v)", t.Attempt)
	p.check(t.Min >= 0, "Timeout.Min is negative (%v)", t.Min)
	if t.Total > 0 {
		p.check(t.Attempt <= t.Total, "Timeout.Attempt %v exceeds Timeout.Total %v: a child's budget cannot be above its parent's", t.Attempt, t.Total)
	}
	if t.Attempt > 0 {
		p.check(t.Min < t.Attempt, "Timeout.Min %v leaves no attempt of %v ever to be started", t.Min, t.Attempt)
	}
}

func (c Config) validateBulkhead(p *problems) {
	b := c.Bulkhead
	p.check(b.Max >= 0, "Bulkhead.Max is negative (%d)", b.Max)
	p.check(b.MaxWait >= 0, "Bulkhead.MaxWait is negative (%v)", b.MaxWait)
	p.check(b.MaxWait <= 0 || b.Max > 0, "Bulkhead.MaxWait is set, but there is no bulkhead to wait for")
	if a := c.Adaptive; a.enabled() {
		p.check(1 <= a.Min && a.Min <= a.Initial && a.Initial <= a.Max,
			"Adaptive needs 1 <= Min <= Initial <= Max (%d, %d, %d)", a.Min, a.Initial, a.Max)
		p.check(b == Bulkhead{}, "Adaptive and Bulkhead are both set: there is one limit")
		p.check(a.MaxWait >= 0, "Adaptive.MaxWait is negative (%v)", a.MaxWait)
		p.check(a.Floor >= 0, "Adaptive.Floor is negative (%v)", a.Floor)
		p.check(c.Timeout.Attempt == 0 || 2*a.Floor < c.Timeout.Attempt, "Adaptive.Floor %v hides a queue until an attempt of %v times out", a.Floor, c.Timeout.Attempt)
		b.MaxWait = a.MaxWait
	}
	if c.Timeout.Total > 0 {
		p.check(b.MaxWait < c.Timeout.Total, "MaxWait %v uses up Timeout.Total %v before an attempt starts", b.MaxWait, c.Timeout.Total)
	}
}

func (c Config) validateBreaker(p *problems) {
	b, attempt := c.Breaker, c.Timeout.Attempt
	if !b.enabled() {
		return
	}
	ratio := func(field string, r float64) {
		p.check(r >= 0 && r <= 1, "Breaker.%s must be between 0 and 1 (%v)", field, r)
		if r > 0 {
			p.check(b.MinCalls >= 1, "Breaker.%s needs MinCalls: one call alone is no ratio", field)
		}
	}
	ratio("FailureRatio", b.FailureRatio)
	ratio("SlowRatio", b.SlowRatio)
	p.check(b.FailureRatio > 0 || b.SlowRatio > 0 || b.ConsecutiveFailures > 0,
		"Breaker can never open: set FailureRatio, SlowRatio or ConsecutiveFailures")
	p.check(b.SlowRatio == 0 || b.SlowAfter > 0, "Breaker.SlowRatio needs SlowAfter")
	p.check(b.SlowAfter >= 0, "Breaker.SlowAfter is negative (%v)", b.SlowAfter)
	if attempt > 0 {
		p.check(b.SlowAfter < attempt, "Breaker.SlowAfter %v is never reached: an attempt ends after %v", b.SlowAfter, attempt)
		p.check(b.Window >= windowAttempts*attempt,
			"Breaker.Window %v must hold %d attempts of %v, or it forgets an outage as fast as it sees it", b.Window, windowAttempts, attempt)
	}
	p.check(b.Window >= windowBuckets*time.Millisecond, "Breaker.Window %v is too short", b.Window)
	p.check(b.MinCalls >= 0, "Breaker.MinCalls is negative (%d)", b.MinCalls)
	p.check(b.ConsecutiveFailures >= 0, "Breaker.ConsecutiveFailures is negative (%d)", b.ConsecutiveFailures)
	p.check(b.OpenFor >= time.Millisecond, "Breaker.OpenFor must be at least 1 ms (%v)", b.OpenFor)
	p.check(b.Probes >= 1, "Breaker.Probes is negative (%d)", b.Probes)
	p.check(b.Successes >= b.Probes, "Breaker.Successes %d is less than the %d probes admitted at once", b.Successes, b.Probes)
	if c.Bulkhead.Max > 0 {
		p.check(b.Probes <= c.Bulkhead.Max, "Breaker.Probes %d do not fit the bulkhead of %d", b.Probes, c.Bulkhead.Max)
	}
}

func (c Config) validateRetry(p *problems) {
	r, t := c.Retry, c.Timeout
	if c.extraAttempts() {
		p.check(r.BudgetRatio > 0 && r.BudgetRatio <= 1, "Retry.BudgetRatio must be between 0 and 1 (%v)", r.BudgetRatio)
		p.check(r.BudgetFloor >= 0, "Retry.BudgetFloor is negative (%d)", r.BudgetFloor)
	}
	p.check(r.Max >= 0 && r.Max <= 10, "Retry.Max must be between 0 and 10 (%d)", r.Max)
	if r.Max <= 0 || r.Max > 10 {
		return
	}
	p.check(r.Base >= time.Millisecond, "Retry.Base must be at least 1 ms (%v): a retry without a pause is a second burst", r.Base)
	p.check(r.Cap >= r.Base, "Retry.Cap %v is below Retry.Base %v", r.Cap, r.Base)
	p.check(t.Total > 0, "Retry needs Timeout.Total: without one, nothing ends the retrying")
	if t.Total > 0 && r.Base > 0 {
		need := t.Attempt + t.Min
		p.check(need+r.Base/2 <= t.Total, "after an attempt that hangs for %v nothing of Timeout.Total %v is left for a retry", t.Attempt, t.Total)
		for n := 1; n <= r.Max; n++ {
			need += r.ceiling(n) / 2
		}
		p.check(need <= t.Total, "an attempt of %v and %d pauses need %v at least, more than Timeout.Total %v: the last retry cannot fit",
			t.Attempt, r.Max, need, t.Total)
	}
}

func (c Config) validateHedge(p *problems) {
	h := c.Hedge
	if !h.enabled() {
		return
	}
	p.check(h.Idempotent, "Hedge needs Idempotent: two attempts at once must do no more than one")
	p.check(h.MaxRatio > 0 && h.MaxRatio <= maxHedgeRatio, "Hedge.MaxRatio must be above 0 and at most %v (%v)", maxHedgeRatio, h.MaxRatio)
	p.check(h.Quantile > 0 && h.Quantile < 1, "Hedge.Quantile must be between 0 and 1 (%v)", h.Quantile)
	p.check(h.MinSamples > 0, "Hedge.MinSamples is negative (%d)", h.MinSamples)
	p.check(c.Timeout.Total > 0, "Hedge needs Timeout.Total, which also ends the loser")
}
