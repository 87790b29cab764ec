package incident

import (
	"fmt"
	"slices"
	"time"
)

// What is judged by a page's own word, read from its internal listener: its breaker, its calls, its goroutines.

// opened finds the first reading in p that shows the breaker of a dependency open.
func (i insight) opened(dependency string, p phase) (at time.Time, ok bool) {
	for _, one := range i.during(dependency, p) {
		if one.Breaker == "open" {
			return one.At, true
		}
	}
	return time.Time{}, false
}

// during gives the readings of a phase.
func (i insight) during(dependency string, p phase) (list []reading) {
	for _, one := range i.readings[dependency] {
		if !one.At.Before(p.From) && one.At.Before(p.To) {
			list = append(list, one)
		}
	}
	return list
}

// openedAt is when the protected page's breaker opened in the fault; if nobody could see it, when it had to be open.
func (r record) openedAt(sick phase) time.Time {
	if at, ok := r.protected.opened(optional, sick); ok {
		return at
	}
	return sick.From.Add(openWithin)
}

func (r record) opens(s *seen, sick phase) Finding {
	at, ok := s.opened(optional, sick)
	if !ok {
		return r.orTooEarly(found(false, "never"))
	}
	took := max(at.Sub(r.broken), 0) // the onset: stopping a process takes its time, in which it may have stopped answering already
	return found(took <= openWithin, "after %s", ms(took))
}

// fits looks at every reading: five a second, so a peak between two is not seen. The limit may adapt: calls that were let in under
// a larger one may still be there, but then no more of them than the reading before has seen, or than its limit admitted.
func fits(readings []reading) Finding {
	var most, limit, before int
	ok := true
	for _, one := range readings {
		allowed := max(one.Limit, before)
		if one.InFlight > most || limit == 0 {
			most, limit = one.InFlight, allowed
		}
		ok = ok && one.InFlight <= allowed
		before = max(one.Limit, one.InFlight)
	}
	if limit == 0 {
		return unknown("no bulkhead seen")
	}
	return found(ok, "at most %d of %d", most, limit)
}

// A page in flight has about a dozen goroutines: two of its connection, one for each part, two for each connection to a part.
const (
	perPage = 12
	spare   = 50 // of four pages
)

// flat holds the goroutines of a fault against the usual most. Typically there may be a few pages more in flight. At a peak, in the
// first second in which pages still wait for the part, there are as many as come within their budget (Little's law), and no more,
// because then they are gone. A caller that waits for 4.8 s has ten times as many, and all the time.
func (r record) flat(s *seen, base, sick, incident phase) Finding {
	usual, during, all := s.values(goroutines, base), s.values(goroutines, sick), s.values(goroutines, incident)
	if len(usual) == 0 || len(during) == 0 {
		return unknown("not read")
	}
	before, typical, peak := usual[len(usual)-1], during[len(during)/2], all[len(all)-1]
	ok := typical <= before+spare && peak <= before+r.inBudget()
	return found(ok, "%.0f, at most %.0f; was at most %.0f", typical, peak, before)
}

// inBudget is how many goroutines the pages have that may be in flight at once when each takes its whole budget.
func (r record) inBudget() float64 { return perPage * float64(r.rate) * pageLimit.Seconds() }

// values gives a metric's values in a phase, in order of size.
func (s insight) values(metric string, p phase) (list []float64) {
	for _, one := range s.scrapes {
		if !one.At.Before(p.From) && one.At.Before(p.To) {
			list = append(list, one.sum(metric))
		}
	}
	slices.Sort(list)
	return list
}

// edges gives the first and the last scrape of a phase.
func (s insight) edges(p phase) (first, last scrape, ok bool) {
	for _, one := range s.scrapes {
		if one.At.Before(p.From) || !one.At.Before(p.To) {
			continue
		}
		if !ok {
			first, ok = one, true
		}
		last = one
	}
	return first, last, ok && last.At.After(first.At)
}

// probing counts, at the caller, the attempts that left the page between the breaker's opening and its closing. A second
// of mercy lets those end that were under way when it opened.
func (r record) probing(s *seen) Finding { return r.probingIn(s, r.phase(fault)) }

func (r record) probingIn(s *seen, sick phase) Finding {
	label := fmt.Sprintf("dependency=%q", optional)
	closings := func(one scrape) float64 { return one.sum(transitions, label, `to_state="closed"`) }
	var opened, last scrape
	at, ok := s.opened(optional, sick)
	for _, one := range s.scrapes {
		switch {
		case !ok || one.At.Before(at.Add(time.Second)):
		case opened.At.IsZero():
			opened, last = one, one
		case closings(one) == closings(opened):
			last = one
		}
	}
	if opened.At.IsZero() || last.At.Equal(opened.At) {
		return unknown("not seen open for long enough")
	}
	tried := last.sum(attempts, label) - opened.sum(attempts, label)
	periods := last.sum(transitions, label, `to_state="half_open"`) - opened.sum(transitions, label, `to_state="half_open"`)
	return found(tried <= probes*periods, "%.0f in %.0f periods", tried, periods)
}
