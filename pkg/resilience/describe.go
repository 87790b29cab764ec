package resilience

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Describe returns the layers of d in the order a call meets them, with their numbers, as a table to log at start.
func (d *Dependency) Describe() string {
	var s strings.Builder
	fmt.Fprintln(&s, d.name)
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	t, b, r, k := d.cfg.Timeout, d.cfg.Bulkhead, d.cfg.Retry, d.cfg.Breaker

	row := func(layer, format string, args ...any) {
		fmt.Fprintf(w, "  %s\t%s\n", layer, fmt.Sprintf(format, args...))
	}
	if f := d.cfg.Fallback; f != "" {
		row("fallback", "%s", f)
	}
	if t.Total > 0 {
		row("deadline", "%v or the caller's, the earlier; nothing starts with less than %v left", t.Total, t.Min)
	} else {
		row("deadline", "the caller's")
	}
	if r.Max > 0 {
		row("retry", "%d more, pauses from %v to %v, budget %.0f %% of calls + %d in %v",
			r.Max, r.Base/2, r.Cap, r.BudgetRatio*100, r.BudgetFloor, budgetSpan)
	} else {
		row("retry", "none")
	}
	if h := d.cfg.Hedge; h.enabled() {
		row("hedge", "a second attempt after the p%g of at least %d, for at most %.0f %% of calls%s",
			h.Quantile*100, h.MinSamples, h.MaxRatio*100, d.backupNote())
	} else {
		row("hedge", "none")
	}
	if a := d.cfg.Adaptive; a.enabled() {
		row("limit", "adaptive, %d to %d, starting at %d, wait for a slot at most %v", a.Min, a.Max, a.Initial, a.MaxWait)
	} else if b.Max > 0 {
		row("bulkhead", "%d in flight, wait for a slot at most %v", b.Max, b.MaxWait)
	} else {
		row("bulkhead", "none")
	}
	if k.enabled() {
		row("breaker", "opens on %s", strings.Join(k.reasons(), ", or "))
		row("", "for at most %v, then %d at once, closes after %d good", k.OpenFor, k.Probes, k.Successes)
	} else {
		row("breaker", "none")
	}
	if t.Attempt > 0 {
		row("attempt", "%v", t.Attempt)
	} else {
		row("attempt", "until the caller's deadline")
	}
	w.Flush()
	return s.String()
}

func (d *Dependency) backupNote() string {
	if b := d.cfg.Hedge.Backup; b != nil {
		return ", by " + b.name
	}
	return ""
}

// reasons lists what opens the breaker.
func (b Breaker) reasons() []string {
	var reasons []string
	if b.FailureRatio > 0 {
		reasons = append(reasons, fmt.Sprintf("%.0f %% failed", b.FailureRatio*100))
	}
	if b.SlowRatio > 0 {
		reasons = append(reasons, fmt.Sprintf("%.0f %% slower than %v", b.SlowRatio*100, b.SlowAfter))
	}
	if len(reasons) > 0 {
		reasons[len(reasons)-1] += fmt.Sprintf(" (of %d or more in %v)", b.MinCalls, b.Window)
	}
	if b.ConsecutiveFailures > 0 {
		reasons = append(reasons, fmt.Sprintf("%d failures in a row", b.ConsecutiveFailures))
	}
	return reasons
}
