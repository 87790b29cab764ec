package load

import "time"

// tally counts samples: in all, by class, and by kind of page. Its size does not depend on how many it has seen.
type tally struct {
	all     latencies
	classes [3]latencies
	kinds   map[Kind]*kindTally
	parts   map[string]int
	causes  map[string]int
}

type kindTally struct {
	latencies
	classes [3]int
}

func newTally() *tally {
	return &tally{kinds: make(map[Kind]*kindTally), parts: make(map[string]int), causes: make(map[string]int)}
}

func (t *tally) add(s Sample) {
	t.all.add(s.Latency)
	t.classes[s.Class].add(s.Latency)
	k := t.kinds[s.Kind]
	if k == nil {
		k = new(kindTally)
		t.kinds[s.Kind] = k
	}
	k.add(s.Latency)
	k.classes[s.Class]++
	for _, p := range s.Parts {
		t.parts[p]++
	}
	if s.Class == Failed {
		t.causes[s.Cause]++
	}
}

// Window is what came in since the window before. Percentiles are of all answers in it, failed ones included:
// waiting in vain is waiting too.
type Window struct {
	At       time.Time // its end
	Elapsed  time.Duration
	Rate     float64 // answers per second
	P50, P95 time.Duration
	Max      time.Duration
	Full     int
	Degraded int
	Failed   int
	InFlight int // asked and not yet answered: where a collapse shows first
	Parts    map[string]int
	Causes   map[string]int
}

func (t *tally) window(began, end time.Time, length time.Duration, inFlight int) Window {
	return Window{
		At: end, Elapsed: end.Sub(began), Rate: float64(t.all.count) / length.Seconds(),
		P50: t.all.quantile(0.50), P95: t.all.quantile(0.95), Max: t.all.max,
		Full: t.classes[Full].count, Degraded: t.classes[Degraded].count, Failed: t.classes[Failed].count,
		InFlight: inFlight, Parts: t.parts, Causes: t.causes,
	}
}
