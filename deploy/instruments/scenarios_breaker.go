package main

import "time"

// breakerScenarios: the article's rule asks for more than 0.1 openings a second. A breaker that stays open for 30 s opens at most
// every 30 s, so one that does all it can is at 0.033.
func breakerScenarios() []scenario {
	const minutes = time.Minute
	down := func(n int, cycle time.Duration) []series {
		return replicas(n, func(i int) []series { return breaker(i, reopening(cycle), 0) })
	}
	return []scenario{
		{"P01a", "down, the breaker reopens every 30 s, 1 replica", down(1, 30*time.Second), 0, 1, 3 * minutes},
		{"P01b", "the same, 2 replicas", down(2, 30*time.Second), 0, 1, 3 * minutes},
		{"P01c", "the same, 3 replicas: exactly 0.1", down(3, 30*time.Second), 0, 1, 3 * minutes},
		{"P01d", "3 replicas whose probes take 2 s", down(3, 32*time.Second), 0, 1, 3 * minutes},
		{"P01e", "4 replicas", down(4, 30*time.Second), 1, 1, 3 * minutes},
		{"P02", "opened once and never closed again", breaker(0, stuck, 0), 0, 1, 3 * minutes},
		{"P03", "200 replicas, each open for 30 s in half an hour: 0.1 in all, next to nothing each",
			replicas(200, func(i int) []series { return breaker(i, blip(time.Duration(i)*9*time.Second), 0) }), 1, 0, 0},
		{"P04", "40 replicas open together, their counters born with 1",
			replicas(40, func(i int) []series { return breaker(i, stuck, absent) }), 0, 1, 3 * minutes},
		{"P05", "healthy", breaker(0, func(time.Duration) (bool, float64) { return true, 0 }, 0), 0, 0, 0},
		{"P06", "10 replicas down", down(10, 30*time.Second), 1, 1, 3 * minutes},
		{"P07", "one of three open for good: two thirds of the customers see nothing", append(breaker(0, stuck, 0),
			replicas(2, func(i int) []series { return breaker(1+i, blip(2*hour), 0) })...), 0, 0, 0},
	}
}

// breaker is one replica's two series: whether it is closed, and how often it has opened. before is the counter's value as long as
// it has not.
func breaker(replica int, at func(t time.Duration) (closed bool, opened float64), before float64) []series {
	return []series{
		{of("circuit_breaker_state", replica, `state="closed"`), func(t time.Duration) float64 {
			if closed, _ := at(t); closed {
				return 1
			}
			return 0
		}},
		{of("circuit_breaker_state_changes_total", replica, `to_state="open"`), func(t time.Duration) float64 {
			if _, opened := at(t); opened > 0 {
				return opened
			}
			return before
		}},
	}
}

// reopening is a dependency that is down: every probe fails.
func reopening(cycle time.Duration) func(time.Duration) (bool, float64) {
	return func(t time.Duration) (bool, float64) {
		if t < onset {
			return true, 0
		}
		return false, float64(1 + (t-onset)/cycle)
	}
}

func stuck(t time.Duration) (bool, float64) {
	if t < onset {
		return true, 0
	}
	return false, 1
}

// blip is open for 30 s in every half hour, the first time at the given moment.
func blip(first time.Duration) func(time.Duration) (bool, float64) {
	return func(t time.Duration) (bool, float64) {
		if t < first {
			return true, 0
		}
		return (t-first)%(30*time.Minute) >= 30*time.Second, float64(1 + (t-first)/(30*time.Minute))
	}
}
