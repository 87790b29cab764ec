package resilience

import "time"

// AIMD raises the limit by one for each window in which all of it was used and the answers came as quickly as ever, and halves it
// when they took more than twice as long (Chiu and Jain, 1989; TCP's congestion avoidance). What it adds to the textbook is
// what the textbook's sender can do without, because its network has no slow days:
//
//   - It looks whether the cut helped. If the answers come more quickly with less at once, the queue was ours, and it goes on cutting
//     until there is none. If not, the dependency is slow by itself: cutting on would starve us and heal nothing, so it holds.
//   - It remembers the limit from before a slow time, and restores it step by step when that is over, used or not. Only if the cut
//     bit, and it was then that the answers came quickly again, was the limit itself the trouble, and stays where it is.
//   - What is quick is learned from windows that were not full, so a queue of our own never becomes the norm. A lasting shift to
//     less than four times the old latency is accepted in minutes; a greater one is an outage for an hour.
func AIMD() LimitAlgorithm { return &aimd{} }

const (
	aimdTolerance = 2               // times the baseline is too slow
	aimdOutage    = 4               // times the baseline is an outage, not a shift
	aimdLearning  = 3 * time.Minute // time constant for a baseline on its way up
	aimdForget    = time.Hour       // after which even an outage is the new normal
)

type aimd struct {
	baseline float64 // usual latency, ns

	slow      bool // the latest window was
	slowSince time.Time
	held      bool    // and cutting did not help
	bit       bool    // since the first cut all of the limit was in use at times: without that, no cut has changed anything
	before    int     // the limit to go back to; 0 if none
	lastCut   float64 // the latency that led to the latest cut, ns
}

// Next implements LimitAlgorithm.
func (a *aimd) Next(limit int, w LimitWindow) int {
	latency := float64(w.Latency)
	if a.baseline == 0 {
		a.baseline = latency
	}
	if latency > aimdTolerance*a.baseline {
		return a.tooSlow(limit, w, latency)
	}
	return a.quick(limit, w, latency)
}

func (a *aimd) tooSlow(limit int, w LimitWindow, latency float64) int {
	if !a.slow {
		a.slow, a.slowSince, a.held, a.bit = true, w.At, false, w.Peak >= limit/2
		a.before = max(a.before, limit)
		a.lastCut = latency
		return limit / 2
	}
	if latency < 0.9*a.lastCut || latency > 1.5*a.lastCut { // it helps, or it gets worse
		a.lastCut = latency
		a.bit = a.bit || w.Peak >= limit*3/4
		return limit * 3 / 4
	}
	a.held = true
	if latency < aimdOutage*a.baseline {
		a.learn(latency, w.Length)
	} else if w.At.Sub(a.slowSince) > aimdForget {
		a.baseline = latency
	}
	return limit
}

func (a *aimd) quick(limit int, w LimitWindow, latency float64) int {
	if a.slow {
		a.slow = false
		if a.bit && !a.held {
			a.before = 0 // the cuts have ended it: the queue was ours, made by the old limit
		}
	}
	full := w.Peak >= limit
	switch {
	case latency < a.baseline:
		a.baseline += 0.1 * (latency - a.baseline)
	case !full:
		a.learn(latency, w.Length)
	}
	switch {
	case limit < a.before:
		return min(limit+max(a.before/20, 1), a.before)
	case full:
		a.before = 0
		return limit + 1
	}
	a.before = 0
	return limit
}

// Baseline is the usual latency.
func (a *aimd) Baseline() time.Duration { return time.Duration(a.baseline) }

// learn moves the baseline up, slowly.
func (a *aimd) learn(latency float64, length time.Duration) {
	a.baseline += min(float64(length)/float64(aimdLearning), 1) * (latency - a.baseline)
}
