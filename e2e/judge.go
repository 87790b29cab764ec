//go:build e2e

package e2e

import (
	"slices"
	"testing"
	"time"

	"watertight.example/demo/pulse"
)

const (
	// pageLimit is the page's budget of 500 ms; the 50 ms more are this machine's, which load, shop and stores share.
	pageLimit  = 550 * time.Millisecond
	tardyShare = 0.005 // of all pages may be above it: a hiccup of the machine
	worstPage  = time.Second

	// openWithin is how long a breaker may take to see what is wrong; until then, pages wait for the sick part's whole budget.
	openWithin = 2 * time.Second
	// probeTime is what healing takes beyond the open period: until the next visitor comes, and the probe has its answer.
	probeTime = 2 * time.Second
)

// visits are raw answers, in the order of asking. They are judged by p95 and counts: there are a few hundred, of which a p99
// would be the third slowest.
type visits []visit

func (all visits) where(keep func(visit) bool) (kept visits) {
	for _, v := range all {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// without notes what the machine's pauses took of each.
func (all visits) without(pauses pulse.Pauses) visits {
	noted := slices.Clone(all)
	for i, v := range all {
		noted[i].paused = pauses.In(v.at, v.at.Add(v.took))
	}
	return noted
}

// within gives those that were asked for and answered between the two moments.
func (all visits) within(from, to time.Time) visits {
	return all.where(func(v visit) bool { return !v.at.Before(from) && v.at.Add(v.took).Before(to) })
}

func (all visits) p95() time.Duration {
	if len(all) == 0 {
		return 0
	}
	took := make([]time.Duration, len(all))
	for i, v := range all {
		took[i] = v.took - v.paused
	}
	slices.Sort(took)
	return took[(len(took)*95+99)/100-1] // nearest rank
}

// noneFails: a page has a fallback for everything that tests break.
func (all visits) noneFails(t testing.TB) {
	t.Helper()
	failed := all.where(visit.failed)
	for _, v := range failed[:min(len(failed), 5)] {
		t.Log(v)
	}
	if len(failed) > 0 {
		inexcusable(t, "%d of %d pages failed", len(failed), len(all))
	}
}

// keepTheBudget is about the whole time of a fault, its first second included, in which no breaker has opened yet.
func (all visits) keepTheBudget(t testing.TB) {
	t.Helper()
	late := all.where(func(v visit) bool { return v.slower(pageLimit) })
	for _, v := range late[:min(len(late), 5)] {
		t.Log(v)
	}
	if float64(len(late)) > tardyShare*float64(len(all)) {
		t.Errorf("%d of %d pages above %s", len(late), len(all), pageLimit)
	}
	if worst := late.where(func(v visit) bool { return v.slower(worstPage) }); len(worst) > 0 {
		t.Errorf("%d pages above %s", len(worst), worstPage)
	}
}

// bound is what other pages of the same run may take, so that a slow machine slows both: twice as long, or 25 ms more where twice is
// next to nothing.
func (all visits) bound() time.Duration {
	usual := all.p95()
	return max(2*usual, usual+25*time.Millisecond)
}

// areAsFastAs compares the p95 with the usual one.
func (all visits) areAsFastAs(t testing.TB, usual visits) {
	t.Helper()
	if len(all) < 20 || len(usual) < 20 { // the p95 of fewer is the slowest one, which proves nothing
		t.Errorf("only %d and %d pages to compare", len(all), len(usual))
		return
	}
	if now := all.p95(); now > usual.bound() {
		t.Errorf("p95 is %s of %d pages, was %s of %d: above %s", now, len(all), usual.p95(), len(usual), usual.bound())
	}
}

// allLack says that the pages admit what is missing.
func (all visits) allLack(t testing.TB, part string) {
	t.Helper()
	silent := all.where(func(v visit) bool { return !v.lacks(part) })
	for _, v := range silent[:min(len(silent), 5)] {
		t.Log(v)
	}
	if len(all) < 20 || len(silent) > 0 {
		inexcusable(t, "%d of %d pages do not say that they lack %s", len(silent), len(all), part)
	}
}

// wholeSince finds the first second in which every page was whole: one whole page alone may be the one that probed.
func (all visits) wholeSince(since time.Time) (at time.Time, ok bool) {
	for _, v := range all {
		switch {
		case v.at.Before(since), v.excused() && !v.failed() && !v.whole():
		case !v.whole():
			at = time.Time{}
		case at.IsZero():
			at = v.at
		case v.at.Sub(at) >= time.Second:
			return at, true
		}
	}
	return at, false
}

// heals waits until all pages are whole again and checks that it did not take longer than limit from since on.
func (b *browsing) heals(t testing.TB, since time.Time, limit time.Duration) {
	t.Helper()
	var at time.Time
	eventuallyIn(t, 30*time.Second, "pages are whole again", func() (ok bool) {
		at, ok = b.soFar().wholeSince(since)
		return ok
	})
	took := at.Sub(since).Round(10 * time.Millisecond)
	t.Logf("whole again after %s", took)
	if took > limit {
		t.Errorf("pages were whole again only after %s, want %s", took, limit)
	}
}
