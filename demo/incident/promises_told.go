package incident

import "fmt"

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
