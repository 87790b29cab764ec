package incident

import (
	"fmt"
	"slices"
	"time"

	"watertight.example/demo/load"
)

// The page budget is 500 ms (article 1, "timeout budgets"); the 50 ms more are the machine's, which the visitors and
// both pages share.
const (
	pageLimit  = 550 * time.Millisecond
	tardyShare = 0.005
	worstPage  = time.Second
	openWithin = 2 * time.Second
	probes     = 1               // per half-open period, as productpage configures its breaker
	relapse    = 0.01            // of the pages after the healing may lack something: an ordinary hiccup is no collapse
	probeTime  = 2 * time.Second // after the open period: until the next visitor comes, and the probe has its answer
)

// judgeOpening holds both pages against the promises. It is pure: the same record gives the same verdicts.
func judgeOpening(r record) []Verdict {
	base, sick, after := r.phase(baseline), r.phase(fault), r.phase(recovery)
	incident := phase{From: sick.From, To: after.To} // from the first second of the fault to the end
	if after.To.IsZero() {
		incident.To = sick.To
	}
	tripped := r.openedAt(sick)
	protected := r.protected.fair().of(load.Product).in(base)

	verdicts := []Verdict{
		r.promise("no-errors", "No page fails", "none: no 5xx, no silence", func(s *seen) Finding {
			return none(s.in(incident), failed)
		}),
		r.promise("budget", "Product pages keep their budget", "≤ 0.5 % above "+ms(pageLimit), func(s *seen) Finding {
			// Of the fault by itself as well, or a long recovery would hide a bad first second.
			pages := s.fair().of(load.Product)
			during, all := pages.in(sick), pages.in(incident)
			return within(during, during.tardy() <= tardyShare && all.tardy() <= tardyShare, "%d of %d, in the fault %d of %d",
				all.count(slower(pageLimit)), len(all), during.count(slower(pageLimit)), len(during))
		}),
		r.promise("worst", "Not one product page is very late", "max ≤ "+ms(worstPage), func(s *seen) Finding {
			pages := s.fair().of(load.Product).in(incident)
			return within(pages, pages.quantile(1) <= worstPage, "max %s", ms(pages.quantile(1)))
		}),
		r.promise("usual-time", "Product pages are fast with the breaker open", protected.bound(), func(s *seen) Finding {
			pages := s.fair().of(load.Product)
			return steady(pages.in(base), pages.sent(tripped, sick.To))
		}),
		r.promise("marked", "Product pages say what they lack", "all do", func(s *seen) Finding {
			pages := s.of(load.Product).sent(r.broken, sick.To).answered(sick.To)
			marked := pages.count(lacks(optional))
			return within(pages, marked == len(pages), "%d of %d", marked, len(pages))
		}),
		r.unrelated("home", "The home page notices nothing", load.Browse, base, sick),
		r.unrelated("order", "A customer's order page notices nothing", load.Order, base, sick),
		r.callTime("price", "Prices come in their usual time", "pricing", base, sick),
		r.callTime("stock", "Stock comes in its usual time", "inventory", base, sick),
		r.inside("opens", "The breaker opens", "within "+ms(openWithin), func(s *seen) Finding { return r.opens(s, sick) }),
		r.inside("bulkhead", "Calls in flight fit the bulkhead", "≤ its limit", func(s *seen) Finding { return fits(s.during(optional, incident)) }),
		r.inside("goroutines", "Goroutines stay flat", fmt.Sprintf("≤ the usual most + %d, peaks + %.0f", spare, r.inBudget()), func(s *seen) Finding { return r.flat(s, base, sick, incident) }),
		r.inside("probes", "The open breaker probes no more than agreed", fmt.Sprintf("≤ %d per open period", probes), r.probing),
		r.promise("heals", "Once mended, all product pages are full again", "within "+ms(r.openFor+probeTime), func(s *seen) Finding {
			return r.orTooEarly(r.heals(s, after))
		}),
		r.promise("stays", "There is no second collapse", protected.bound()+", ≤ 1 % not full", func(s *seen) Finding {
			return r.orTooEarly(r.stays(s, base, after))
		}),
	}
	if r.naive == nil {
		return verdicts
	}
	return append(verdicts,
		r.naively("collapses", "The naive product page collapses", "p50 > 2 s or > 20 % failed", func(s *seen) Finding {
			return collapsed(s.of(load.Product).in(sick))
		}),
		r.naively("takes-along", "It takes its home and order pages along", "p95 of both beyond bound", func(s *seen) Finding {
			return takenAlong(s.fair(), base, sick)
		}),
	)
}

// budget is the one every story promises of its product pages.
func (r record) budget(promise string, p phase) Verdict {
	return r.promise("budget", promise, "≤ 0.5 % above "+ms(pageLimit), func(s *seen) Finding {
		pages := s.fair().of(load.Product).in(p)
		return within(pages, pages.tardy() <= tardyShare, "%d of %d", pages.count(slower(pageLimit)), len(pages))
	})
}

// naively is what the naive page has to do.
func (r record) naively(id, promise, bound string, measure func(*seen) Finding) Verdict {
	return Verdict{ID: id, Promise: promise, Bound: bound, ByNaive: true, Naive: r.orTooEarly(measure(r.naive))}
}

// within is found, unless there are no pages to speak of.
func within(pages samples, ok bool, format string, args ...any) Finding {
	if len(pages) == 0 {
		return unknown("no answers")
	}
	return found(ok, format, args...)
}

func collapsed(pages samples) Finding {
	share := pages.failedShare()
	return within(pages, pages.quantile(0.5) > 2*time.Second || share > 0.2, "p50 %s, %.0f %% failed", ms(pages.quantile(0.5)), 100*share)
}

func takenAlong(all samples, base, sick phase) Finding {
	home, order := all.of(load.Browse), all.of(load.Order)
	h, o := steady(home.in(base), home.in(sick)), steady(order.in(base), order.in(sick))
	if h.Result == NotMeasured || o.Result == NotMeasured {
		return unknown("too few answers")
	}
	return found(h.Result == Fail && o.Result == Fail, "home %s; order %s", h.Measured, o.Measured)
}

// tardy is the share of pages above their budget.
func (s samples) tardy() float64 {
	return float64(s.count(slower(pageLimit))) / float64(max(1, len(s)))
}

func (s samples) failedShare() float64 { return float64(s.count(failed)) / float64(max(1, len(s))) }

// healed finds the first full second after the mend: the product pages asked for in it are all whole, but for those that a pause
// of the machine has cost a part.
func (r record) healed(s *seen, after phase) (at time.Time, ok bool) {
	pages := s.of(load.Product).sent(r.mended, after.To)
	slices.SortFunc(pages, func(a, b load.Sample) int { return a.At.Compare(b.At) })
	for _, page := range pages {
		switch {
		case degraded(page) && s.disturbed(page):
		case failed(page) || degraded(page):
			at = time.Time{}
		case at.IsZero():
			at = page.At
		case page.At.Sub(at) >= time.Second:
			return at, true
		}
	}
	return at, false
}

func (r record) heals(s *seen, after phase) Finding {
	return r.healsWithin(s, after, r.openFor+probeTime)
}

func (r record) healsWithin(s *seen, after phase, limit time.Duration) Finding {
	if r.mended.IsZero() || len(s.of(load.Product).in(after)) == 0 {
		return unknown("no answers")
	}
	at, ok := r.healed(s, after)
	if !ok {
		return found(false, "not within %s", ms(after.To.Sub(r.mended)))
	}
	took := at.Sub(r.mended)
	return found(took <= limit, "after %s", ms(took))
}

func (r record) stays(s *seen, base, after phase) Finding {
	at, ok := r.healed(s, after)
	if !ok {
		return unknown("never full again")
	}
	pages := s.fair().of(load.Product)
	now := pages.sent(at, after.To)
	if f := steady(pages.in(base), now); f.Result != Pass {
		return f
	}
	asked := s.of(load.Product).sent(at, after.To)
	lost := asked.count(failed)
	lacking := asked.count(func(one load.Sample) bool { return degraded(one) && !s.disturbed(one) })
	return found(lost == 0 && float64(lacking) <= relapse*float64(len(asked)), "p95 %s, %d of %d not full", ms(now.p95()), lost+lacking, len(asked))
}
