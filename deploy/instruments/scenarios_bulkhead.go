package main

import "time"

// bulkheadScenarios: the article's rule divides two gauges of one replica and waits for five minutes without a gap.
func bulkheadScenarios() []scenario {
	const minutes = time.Minute
	every4 := func(t, long time.Duration) bool { return t > onset && (t-onset)%(4*minutes) < long }
	full := func(time.Duration) float64 { return 100 }
	return []scenario{
		{"P10", "3 replicas full", replicas(3, func(i int) []series { return bulkhead(i, onwards(full)) }), 3, 1, 4 * minutes},
		{"P11", "always full, the pod is replaced every 4 minutes", replacedPods(4 * minutes), 0, 1, 4 * minutes},
		{"P12", "full, and the scrape fails for 30 s every 4 minutes", failing(bulkhead(0, onwards(full)),
			func(t time.Duration) bool { return every4(t, 30*time.Second) }), 0, 1, 4 * minutes},
		{"P13", "full, but for one sample of 84 % every 4 minutes", bulkhead(0, onwards(func(t time.Duration) float64 {
			if every4(t, step) {
				return 84
			}
			return 100
		})), 0, 1, 4 * minutes},
		{"P14", "30 % whenever somebody looks, and a fifth of the calls refused", append(bulkhead(0, func(time.Duration) float64 { return 30 }),
			series{of("bulkhead_rejected_total", 0), perSecond(20)},
			series{of("dependency_calls_total", 0, `outcome="rejected_limit"`), perSecond(20)},
			series{of("dependency_calls_total", 0, `outcome="success"`), perSecond(80)}), 0, 1, 4 * minutes},
		{"P15", "one of the two gauges has a label more", []series{
			{of("bulkhead_active_calls", 0, `pool="a"`), onwards(full)},
			{of("bulkhead_max_concurrent", 0), full}}, 0, 1, 4 * minutes},
		{"P16", "one of 3 replicas is full", append(bulkhead(0, onwards(full)),
			replicas(2, func(i int) []series { return bulkhead(1+i, func(time.Duration) float64 { return 20 }) })...), 1, 1, 4 * minutes},
		{"P17", "60 %", bulkhead(0, func(time.Duration) float64 { return 60 }), 0, 0, 0},
		{"P18", "full for 90 s", bulkhead(0, func(t time.Duration) float64 {
			if t >= onset && t < onset+90*time.Second {
				return 100
			}
			return 30
		}), 0, 0, 0},
	}
}

func bulkhead(replica int, active func(time.Duration) float64) []series {
	return []series{
		{of("bulkhead_active_calls", replica), active},
		{of("bulkhead_max_concurrent", replica), func(time.Duration) float64 { return 100 }},
	}
}

// onwards is 30 before the onset.
func onwards(f func(time.Duration) float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		if t < onset {
			return 30
		}
		return f(t)
	}
}

// replacedPods are full ones, each with a name of its own, of which the next begins when one ends.
func replacedPods(life time.Duration) []series {
	return replicas(int((hour-onset)/life)+1, func(i int) []series {
		born := onset + time.Duration(i)*life
		return failing(bulkhead(i, func(time.Duration) float64 { return 100 }), func(t time.Duration) bool { return t < born || t >= born+life })
	})
}

// failing are the series without the samples of which gone says so.
func failing(all []series, gone func(time.Duration) bool) (left []series) {
	for _, s := range all {
		left = append(left, series{s.name, func(t time.Duration) float64 {
			if gone(t) {
				return absent
			}
			return s.at(t)
		}})
	}
	return left
}

// perSecond is a counter that runs from the onset on.
func perSecond(n float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 { return n * max(0, t-onset).Seconds() }
}
