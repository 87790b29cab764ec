package resilience

import (
	"math"
	"time"
)

// Gradient2 compares the latency with its own long average and shrinks the limit by their ratio, leaving room for a queue of the limit's
// square root (Netflix's concurrency-limits). It reacts quickly, and forgets: after minutes of slowness the long
// average has caught up, and the limit climbs back while the dependency is still slow.
func Gradient2() LimitAlgorithm { return &gradient2{} }

const (
	gradientTolerance = 1.5
	gradientSmoothing = 0.2
	gradientLong      = 600 // windows in the long average
)

type gradient2 struct{ long float64 }

// Next implements LimitAlgorithm.
func (g *gradient2) Next(limit int, w LimitWindow) int {
	short := float64(w.Latency)
	if g.long == 0 {
		g.long = short
	}
	g.long += (short - g.long) * 2 / (gradientLong + 1)
	if g.long > 2*short {
		g.long *= 0.95 // it is over; do not take minutes to notice
	}
	if w.Peak*2 < limit {
		return limit
	}
	l := float64(limit)
	gradient := min(max(gradientTolerance*g.long/short, 0.5), 1)
	next := l*gradient + math.Sqrt(l)
	return int(math.Round(l*(1-gradientSmoothing) + next*gradientSmoothing))
}

// Baseline is the long average.
func (g *gradient2) Baseline() time.Duration { return time.Duration(g.long) }
