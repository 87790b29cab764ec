package incident

import "time"

// What is judged by the limits and breakers of the places that the outage is about.

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
