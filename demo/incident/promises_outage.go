package incident

import (
	"fmt"
	"slices"
	"time"

	"watertight.example/demo/load"
)

const (
	extraShare  = 0.07             // of reads may be asked for twice; 5 % is what hedging may take, and 10 s of its window may be from before
	extraLeast  = 0.01             // of reads have to be, while one in twelve is late: fewer is no hedging, and then nothing was paid for
	opensWithin = 15 * time.Second // a window of 5 s must fill with slow reads at the rate of a few visitors
	stockWithin = 5 * time.Second
	snapshotGap = 0.01 // of the pages may lack a live count while reads fail over
)

// judgeOutage holds both pages against the promises. It is pure: the same record gives the same verdicts.
func judgeOutage(r record) []Verdict {
	base, incident := r.phase(baseline), r.span(slowFraction, analyzed)
	verdicts := r.throughout(base, incident)
	verdicts = append(verdicts, r.actOne(base)...)
	verdicts = append(verdicts, r.actTwo(base)...)
	verdicts = append(verdicts, r.actThree(base)...)
	verdicts = append(verdicts, r.books()...)
	if r.naive == nil {
		return verdicts
	}
	return append(verdicts,
		r.naively("collapses", "Act two: the naive product page collapses", "p50 > 2 s or > 20 % failed", func(s *seen) Finding {
			return collapsed(s.of(load.Product).in(r.phase(slowStores)))
		}),
		// Who looks at a product that is much bought meets the flipped plan at its worst; the others wait for the core that it burns.
		r.naively("slows", fmt.Sprintf("Act three: with %d visitors a second the naive page takes many times as long", naiveRate), "p50 > 5x, or > 20 % failed", func(s *seen) Finding {
			pages, usual := s.of(load.Product).in(r.flipped()), s.of(load.Product).in(base).quantile(0.5)
			return within(pages, pages.quantile(0.5) > 5*usual || pages.failedShare() > 0.2, "p50 %s, was %s, %.0f %% failed",
				ms(pages.quantile(0.5)), ms(usual), 100*pages.failedShare())
		}),
	)
}

// throughout is what no act may break, each by itself. The button is judged by its customers: a refusal is an answer there.
func (r record) throughout(base, incident phase) []Verdict {
	pages := func(s *seen) samples {
		return s.where(func(one load.Sample) bool { return one.Kind != load.Place }).in(incident)
	}
	acts, before := r.acts(incident), r.span(slowFraction, storesBack)
	return []Verdict{
		r.promise("no-errors", "No page fails", "none: no 5xx, no silence", func(s *seen) Finding { return none(pages(s), failed) }),
		r.budget("Product pages keep their budget", incident),
		r.unrelated("home", "The home page notices nothing", load.Browse, base, incident, acts...),
		r.unrelated("order", "A customer's order page notices nothing", load.Order, base, incident, acts...),
		r.callTime("price", "Prices come in their usual time", "pricing", base, incident, acts...),
		r.callTime("recs", "Recommendations come in their usual time in acts one and two", optional, base, before, r.acts(before)...),
	}
}

func (r record) actOne(base phase) []Verdict {
	some, all, back := r.phase(slowFraction), r.phase(slowHost), r.phase(hostBack)
	at, opened := r.place(replica()).opened("postgres-replica", r.span(slowHost, hostBack))
	return []Verdict{
		r.callTime("hedged", "Act one, some reads slow: stock comes in its usual time", "inventory", base, some),
		r.told("extra", "… for a few percent of extra queries, counted by the databases", fmt.Sprintf("%.0f to %.0f %%", 100*extraLeast, 100*extraShare), r.extraQueries(some)),
		r.told("cut", "Act one, all reads slow: the replica's limit is cut", fmt.Sprintf("≤ %.0f %% within %s", 100*cutTo, ms(cutWithin)), r.cut(replica(), all)),
		r.told("replica-opens", "… then its breaker opens", "within "+ms(opensWithin)+", after the cut", r.opensAfter(at, opened, all)),
		r.promise("fails-over", "… and reads go to the primary: pages show live counts", "≤ 1 % without", func(s *seen) Finding {
			pages := s.of(load.Product).sent(at, all.To)
			lacking := pages.count(lacks("stock"))
			return within(pages, opened && float64(lacking) <= snapshotGap*float64(len(pages)), "%d of %d", lacking, len(pages))
		}),
		r.told("replica-back", "Repaired, the replica is read again, with its whole limit", restoreBound(), r.restores(replica(), base, all, back)),
	}
}

func (r record) actTwo(base phase) []Verdict {
	sick, back := r.phase(slowStores), r.phase(storesBack)
	at, opened := r.place(stock()).opened("inventory", sick)
	return []Verdict{
		r.told("stock-opens", "Act two, both databases slow: the page stops asking for stock", "within "+ms(stockWithin), r.opensBy(at, opened, sick, stockWithin)),
		r.promise("banner", "… its pages show the snapshot's counts, and say so", bannerBound(), func(s *seen) Finding {
			return s.banner(at, opened, sick)
		}),
		r.told("button", "… whoever presses the button has an order or a clean refusal", "303, 422, or 503 with Retry-After", r.cleanAnswers()),
		r.told("one-intent", "… and the same form makes one order in the end", "each, also pressed twice at once", r.orderedOnce()),
		r.told("stock-back", "Repaired, the page asks for stock again, with its whole limit", restoreBound(), r.restores(stock(), base, sick, back)),
	}
}

func (r record) actThree(base phase) []Verdict {
	sick, back := r.phase(planFlipped), r.phase(analyzed)
	at, opened := r.place(recommendations()).opened(optional, sick)
	heal := max(r.openFor, patience) + probeTime // the naive page's sick queries run until its visitors give up
	return []Verdict{
		r.told("plan", "Act three: the plan changes, and ANALYZE alone brings it back", "another plan, then the first one", r.planChanged()),
		r.told("recs-opens", "… the page stops asking for recommendations", "within "+ms(stockWithin), r.opensBy(at, opened, sick, stockWithin)),
		r.callTime("stock", "… stock comes in its usual time", "inventory", base, sick),
		r.inside("probes", "… it is probed no more than agreed", fmt.Sprintf("≤ %d per open period", probes), func(s *seen) Finding { return r.probingIn(s, sick) }),
		r.promise("heals", "Analyzed, all product pages are full again", "within "+ms(heal), func(s *seen) Finding {
			return r.orTooEarly(r.healsWithin(s, back, heal))
		}),
		r.told("recs-back", "… and recommendations have their whole limit", fmt.Sprintf("≥ %.0f %% of it, %s after that", 100*restoredTo, ms(restoreWithin)), r.restores(recommendations(), base, sick, r.onceHealed(back, heal))),
	}
}

// flipped is act three without its first second, in which the plan is still the old one and visitors come as before.
func (r record) flipped() phase {
	p := r.phase(planFlipped)
	if len(r.ledger.plans) > 1 {
		p.From = r.ledger.plans[1].At
	}
	return p
}

// onceHealed is the rest of a phase from when pages are full again, at the latest from when they have to be.
func (r record) onceHealed(back phase, limit time.Duration) phase {
	from := back.From.Add(limit)
	if at, ok := r.healed(r.protected, back); ok && at.Before(from) {
		from = at
	}
	return phase{From: from, To: back.To}
}

func restoreBound() string {
	return fmt.Sprintf("≥ %.0f %% of it within %s", 100*restoredTo, ms(restoreWithin))
}

func (r record) planChanged() Finding {
	var names []string
	for _, p := range r.ledger.plans {
		names = append(names, p.Name)
	}
	if len(names) < 3 {
		return unknown("not read")
	}
	names = slices.Compact(names)
	return found(len(names) == 3 && names[0] == names[2], "%q", names)
}
