package incident

import (
	"fmt"
	"time"
)

// What is judged by the word of other processes, of the databases and of the customers at the till, all of the protected shop.

// told is a promise of the protected shop that has no counterpart in the naive one.
func (r record) told(id, promise, bound string, f Finding) Verdict {
	return Verdict{ID: id, Promise: promise, Bound: bound, Protected: r.orTooEarly(f)}
}

// manyReads is from how many on a share of a few percent is more than one or two hedges.
const manyReads = 100

// extraQueries compares what inventory was asked with what its primary was asked for on top. Too few are as bad as too many: a shop
// that never hedges has no extra queries either.
func (r record) extraQueries(p phase) Finding {
	primary, _, ok := r.ledger.between(p)
	first, last, scraped := r.place(replica()).edges(p)
	if !ok || !scraped {
		return unknown("not counted")
	}
	asked := last.sum(allCalls, replica().label()) - first.sum(allCalls, replica().label())
	if asked < manyReads {
		return unknown(fmt.Sprintf("only %.0f reads", asked))
	}
	share := float64(primary) / asked
	return found(share >= extraLeast && share <= extraShare, "%d for %.0f reads, %.1f %%", primary, asked, 100*share)
}

// cut looks for the lowest limit soon after a phase began.
func (r record) cut(place Place, p phase) Finding {
	before, lowest := 0, 0
	for _, one := range r.place(place).readings[place.Dependency] {
		switch {
		case one.At.Before(p.From):
			before = one.Limit
		case one.At.Before(p.From.Add(cutWithin)) && (lowest == 0 || one.Limit < lowest):
			lowest = one.Limit
		}
	}
	if before == 0 || lowest == 0 {
		return unknown("no limit seen")
	}
	return found(float64(lowest) <= cutTo*float64(before), "from %d to %d", before, lowest)
}

// cutAt is when the limit first was below what it was before the phase.
func (r record) cutAt(place Place, p phase) (time.Time, bool) {
	before := 0
	for _, one := range r.place(place).readings[place.Dependency] {
		switch {
		case one.At.Before(p.From):
			before = one.Limit
		case one.Limit < before && one.At.Before(p.To):
			return one.At, true
		}
	}
	return time.Time{}, false
}

// opensAfter also wants the limit to have been cut before: the limiter notices first.
func (r record) opensAfter(at time.Time, opened bool, p phase) Finding {
	cut, ok := r.cutAt(replica(), p)
	if !opened {
		return r.opensBy(at, opened, p, opensWithin)
	}
	took := at.Sub(p.From)
	if !ok {
		return found(false, "after %s, the limit was not cut", ms(took))
	}
	return found(took <= opensWithin && !cut.After(at), "after %s, cut after %s", ms(took), ms(cut.Sub(p.From)))
}

func (r record) opensBy(at time.Time, opened bool, p phase, limit time.Duration) Finding {
	if !opened {
		return found(false, "never")
	}
	return found(at.Sub(p.From) <= limit, "after %s", ms(at.Sub(p.From)))
}

// restores wants nearly the limit of the baseline, with the breaker closed, soon after back began. Hard failures open a breaker before
// its limiter has seen enough of them to cut: where the limit was not cut since sick began, coming back is closing, and that is said.
func (r record) restores(place Place, base, sick, back phase) Finding {
	usual := 0
	for _, one := range r.place(place).during(place.Dependency, base) {
		usual = max(usual, one.Limit)
	}
	if usual == 0 || !back.To.After(back.From) {
		return unknown("no limit seen")
	}
	last, cut := 0, false
	for _, one := range r.place(place).during(place.Dependency, phase{From: sick.From, To: back.To}) {
		whole := float64(one.Limit) >= restoredTo*float64(usual)
		last, cut = one.Limit, cut || !whole
		if one.At.Before(back.From) || one.Breaker != "closed" || !whole {
			continue
		}
		took := one.At.Sub(back.From)
		if !cut {
			return found(took <= restoreWithin, "never cut, closed after %s", ms(took))
		}
		return found(took <= restoreWithin, "%d of %d after %s", one.Limit, usual, ms(took))
	}
	return found(false, "%d of %d after %s", last, usual, ms(back.To.Sub(back.From)))
}

func (r record) cleanAnswers() Finding {
	all, dirty := 0, ""
	for _, c := range r.customers {
		for _, a := range c.First {
			all++
			if !a.clean() {
				dirty += fmt.Sprintf(", one %s", a)
			}
		}
	}
	if all == 0 {
		return unknown("nobody came to the till")
	}
	return found(dirty == "", "%d answers%s", all, dirty)
}

func (r record) orderedOnce() Finding {
	placed, refused := 0, 0
	for _, c := range r.customers {
		switch {
		case c.Order != "":
			placed++
		case c.Said == "refused":
			refused++
		}
	}
	if len(r.customers) == 0 {
		return unknown("nobody came to the till")
	}
	return found(placed+refused == len(r.customers), "%d orders, %d refusals of %d customers", placed, refused, len(r.customers))
}

// books is what the databases say at the end.
func (r record) books() []Verdict {
	if r.ledger.audited == nil {
		return []Verdict{r.told("audit", "Orders, stock and events add up", "all checks", unknown("not audited"))}
	}
	checks, wrong := len(r.ledger.audited.Checks), ""
	for _, c := range r.ledger.audited.Checks {
		if c.Wrong > 0 {
			wrong += fmt.Sprintf("; not so: %s (%d)", c.Demand, c.Wrong)
		}
	}
	return []Verdict{
		r.told("duplicates", "Nothing was ordered twice, by the databases", "no quote has two orders", found(r.ledger.duplicates == 0, "%d too many", r.ledger.duplicates)),
		r.told("audit", "Nothing was oversold, and orders, stock and events add up", "all checks", found(wrong == "", "%d checks of %d orders%s", checks, r.ledger.audited.Orders, wrong)),
	}
}
