package incident

import (
	"context"
	"fmt"
	"time"

	"watertight.example/demo/load"
)

const (
	pricingEdge = "productpage-pricing"
	stormShare  = 0.4                    // of pricing's answers: below the half that opens the breaker
	stormLate   = 600 * time.Millisecond // by up to this; an attempt has 80 ms
)

func pricing() Place { return Place{"productpage", "pricing"} }

// RetryStorm makes a third of the attempts to pricing fail: too few for a breaker, and each asks for a retry. The budget bounds
// what that adds; played with -without retry-budget nothing does, and the two reports side by side show the difference.
func RetryStorm(speed float64) Incident {
	return Incident{
		Name: "retry-storm", Title: "A retry storm", Fault: "a third of the answers of pricing come too late, and every one of them asks for a retry",
		length: time.Minute, edges: []string{pricingEdge}, visits: visits(), watched: []Place{pricing()},
		judge: judgeRetryStorm,
		tell: func(ctx context.Context, s *stage) {
			s.speed = speed
			s.calm(baseline, "both pages are well")
			s.see(ctx, 2*time.Minute)

			s.act(fault, "a third of the answers of pricing come too late")
			s.breakEdge(ctx, s.latency(pricingEdge, stormLate, stormShare))
			s.see(ctx, 4*time.Minute)

			s.calm(recovery, "mended")
			s.mend(ctx)
			s.until(ctx, "all pages are full", 2*restoreWithin, s.shop.witnesses[0].whole)
			s.wait(ctx, time.Minute)
		},
	}
}

func judgeRetryStorm(r record) []Verdict {
	base, sick := r.phase(baseline), r.phase(fault)
	return []Verdict{
		r.promise("no-errors", "No page fails", "none: no 5xx, no silence", func(s *seen) Finding { return none(s.in(r.span(fault, recovery)), failed) }),
		r.budget("Product pages keep their budget", sick),
		r.unrelated("order", "A customer's order page notices nothing", load.Order, base, sick), // the home page shows prices, too
		r.callTime("stock", "Stock comes in its usual time", "inventory", base, sick),
		r.inside("retries", "Retries stay within their budget", "≤ 10 % of calls, and 10 in 10 s", func(s *seen) Finding { return s.retriesWithin(sick) }),
		r.promise("heals", "Once mended, all product pages are full again", "within "+ms(2*restoreWithin), func(s *seen) Finding {
			return r.orTooEarly(r.healsWithin(s, r.phase(recovery), 2*restoreWithin))
		}),
	}
}

// The budget's numbers, as every dependency with retries has them unless it says otherwise. Its window slides, so at an end of the
// phase one more window's floor may show.
const (
	retryRatio  = 0.1
	retryFloor  = 10
	retryWindow = 10 * time.Second
)

func (i insight) retriesWithin(p phase) Finding {
	first, last, ok := i.edges(p)
	if !ok {
		return unknown("not read")
	}
	count := func(metric string, labels ...string) float64 {
		labels = append(labels, pricing().label())
		return last.sum(metric, labels...) - first.sum(metric, labels...)
	}
	calls, retries := count(allCalls), count(retried, `outcome="retry"`)
	windows := float64(last.At.Sub(first.At))/float64(retryWindow) + 1
	if calls < enough {
		return unknown(fmt.Sprintf("only %.0f calls", calls))
	}
	return found(retries <= retryRatio*calls+retryFloor*windows, "%.0f of %.0f calls, %.0f %%", retries, calls, 100*retries/calls)
}
