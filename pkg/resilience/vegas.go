package resilience

import (
	"math"
	"time"
)

// Vegas estimates the queue from how much longer than the shortest time an answer takes, and keeps it between two bounds that grow with
// the limit's logarithm (Brakmo and Peterson, 1995; the constants are those of Netflix's concurrency-limits). It is gentle and
// bounded, and after a lasting shift stays where it was pushed: the shortest time is forgotten by a percent per window at most.
func Vegas() LimitAlgorithm { return &vegas{} }

type vegas struct{ shortest float64 }

// Next implements LimitAlgorithm.
func (v *vegas) Next(limit int, w LimitWindow) int {
	latency := float64(w.Latency)
	if v.shortest == 0 || latency < v.shortest {
		v.shortest = latency
	}
	if w.Peak*2 < limit { // hardly used: no news about a queue
		return limit
	}
	l := float64(limit)
	step := max(math.Log10(l), 1)
	queue := math.Ceil(l * (1 - v.shortest/latency))
	switch {
	case queue < 3*step:
		return limit + int(step)
	case queue > 6*step:
		return limit - int(step)
	}
	return limit
}

// Baseline is the shortest time an answer has taken.
func (v *vegas) Baseline() time.Duration { return time.Duration(v.shortest) }
