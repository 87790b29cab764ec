package resilience

import "time"

const (
	// runSpan keeps one hiccup of this machine, which fails everything in flight at once, from opening a breaker.
	runSpan = 500 * time.Millisecond

	// runGap is how far apart two failures may be and still be "in a row": one failure a day is no outage.
	runGap = time.Minute
)

// failureRun counts failures in a row. It finds the outages a ratio cannot: too few calls for MinCalls, or a long healthy
// past still in the window.
type failureRun struct {
	n         int
	begun     time.Time // when the first failed call of the run was begun
	firstEnd  time.Time // when it failed
	latestEnd time.Time
}

func (r *failureRun) add(bad bool, begun, now time.Time) {
	if !bad {
		// A success of a call begun before the run is news from before the outage, and does not end it.
		if r.n > 0 && !begun.Before(r.begun) {
			*r = failureRun{}
		}
		return
	}
	if r.n == 0 || now.Sub(r.latestEnd) > runGap {
		*r = failureRun{begun: begun, firstEnd: now}
	}
	r.n++
	r.latestEnd = now
}
