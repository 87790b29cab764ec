package resilience

import (
	"slices"
	"time"
)

// Adaptive replaces the bulkhead by a limit that finds its own size between Min and Max (article 1, "Adaptive Concurrency
// Limits"): it grows while it is used to the full and answers come as quickly as ever, and shrinks when they do not. The zero
// value means no adaptive limit.
type Adaptive struct {
	Min, Max int
	Initial  int           // 0 means Max, which is what a bulkhead would have
	MaxWait  time.Duration // as in Bulkhead

	// Floor is a latency below which all are alike. What takes 2 ms takes 5 on a machine that is busy for a second, and that
	// is no queue. 0 means none.
	Floor time.Duration

	// Algorithm makes the algorithm for one Dependency. Nil means AIMD, which is the only one of the three that neither
	// collapses nor forgets in the articles' outage; the simulation is among the tests.
	Algorithm func() LimitAlgorithm
}

func (a Adaptive) enabled() bool {
	return a.Min != 0 || a.Max != 0 || a.Initial != 0 || a.MaxWait != 0 || a.Floor != 0 || a.Algorithm != nil
}

// LimitAlgorithm turns what was measured in one window into the next limit. It is called for one window after the other and
// needs no locks. What it returns is kept between Adaptive's Min and Max. One that also has a method Baseline() time.Duration
// tells by it what it compares the latency with, and State shows it.
type LimitAlgorithm interface {
	Next(limit int, w LimitWindow) int
}

// LimitWindow is what was measured between two decisions. Only attempts that were both begun and ended in the window count:
// the others tell of an older limit. Failures and canceled attempts do not count; they say nothing about how long work takes.
type LimitWindow struct {
	At      time.Time     // the end of the window
	Length  time.Duration // at least 100 ms
	Latency time.Duration // the median, which one outlier does not move; at least Adaptive.Floor
	Peak    int           // most attempts in flight at once
}

const (
	limitWindowLength = 100 * time.Millisecond
	limitMinSamples   = 10  // a median of fewer says little
	limitMaxSamples   = 101 // more would only cost time to sort
)

// adaptor collects the samples of a window. The limiter's lock protects it.
type adaptor struct {
	algorithm       LimitAlgorithm
	min, max        int
	floor           time.Duration
	begun           time.Time
	samples         []time.Duration
	peak            int
	raised, lowered uint64
}

func newAdaptor(a Adaptive, now time.Time) *adaptor {
	return &adaptor{
		algorithm: a.Algorithm(), min: a.Min, max: a.Max, floor: a.Floor, begun: now,
		samples: make([]time.Duration, 0, limitMaxSamples),
	}
}

// sample takes the time of one attempt, and returns the limit to use from now on.
func (a *adaptor) sample(limit int, begun time.Time, took time.Duration, now time.Time) int {
	if begun.Before(a.begun) {
		return limit
	}
	if len(a.samples) < limitMaxSamples {
		a.samples = append(a.samples, took)
	}
	length := now.Sub(a.begun)
	if length < limitWindowLength || len(a.samples) < limitMinSamples {
		return limit
	}
	slices.Sort(a.samples)
	median := max(a.samples[len(a.samples)/2], a.floor)
	next := a.algorithm.Next(limit, LimitWindow{At: now, Length: length, Latency: median, Peak: a.peak})
	a.begun, a.samples, a.peak = now, a.samples[:0], 0
	next = min(max(next, a.min), a.max)
	switch {
	case next > limit:
		a.raised++
	case next < limit:
		a.lowered++
	}
	return next
}

// baseline is what the algorithm takes for usual, if it tells.
func (a *adaptor) baseline() time.Duration {
	if b, ok := a.algorithm.(interface{ Baseline() time.Duration }); ok {
		return b.Baseline()
	}
	return 0
}
