package resilience

import (
	"sync"
	"time"
)

// quantile follows a quantile of a stream of durations without keeping them: each sample above the estimate moves it up by a
// step, each below moves it down by less, in the proportion at which both balance at the quantile (Ma, Muthukrishnan,
// Sandler, "Frugal Streaming for Estimating Quantiles", 2013). It follows a tenfold change within about fifty samples, and one
// outlier moves it by no more than a step, however far out it is.
type quantile struct {
	p          float64
	minSamples int

	mu      sync.Mutex
	samples int
	value   float64
}

const quantileStep = 0.05 // of the estimate

func (q *quantile) observe(d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := float64(d)
	if q.samples < q.minSamples {
		q.samples++
		q.value = max(q.value, x) // starts too high: hedging too late costs less than hedging everything
		return
	}
	if x > q.value {
		q.value += quantileStep * q.p * q.value
	} else {
		q.value -= quantileStep * (1 - q.p) * q.value
	}
}

// estimate returns the quantile, ok once there were enough samples.
func (q *quantile) estimate() (d time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return time.Duration(q.value), q.samples >= q.minSamples
}
