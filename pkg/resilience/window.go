package resilience

import "time"

// windowBuckets is how finely a window forgets: a tenth of it at a time. A single bucket, cleared when it is full, would make
// 9 % of errors look like 90 % just after the edge.
const windowBuckets = 10

// counts is what a window counts.
type counts struct {
	calls    int // results, or logical calls in a budget
	failures int
	slow     int
	extra    int // attempts beyond the first
}

// window counts what happened within a rolling span of time, by the time things were reported: a result slower than the window
// still counts when it comes. Its owner's lock protects it.
type window struct {
	bucketWidth time.Duration
	epoch       time.Time
	newest      int64         // number of the newest bucket since epoch
	newestEnd   time.Duration // its end, since epoch
	buckets     [windowBuckets]counts
}

func newWindow(span time.Duration, now time.Time) window {
	return window{bucketWidth: span / windowBuckets, newestEnd: span / windowBuckets, epoch: now}
}

// at returns the bucket of now, after forgetting what has left the window. A clock reading from before the newest bucket (two
// callers reporting at once) counts into the newest.
func (w *window) at(now time.Time) *counts {
	n := w.number(now)
	for gone := min(n-w.newest, windowBuckets); gone > 0; gone-- {
		w.buckets[(n-gone+1)%windowBuckets] = counts{}
	}
	w.newest, w.newestEnd = n, time.Duration(n+1)*w.bucketWidth
	return &w.buckets[n%windowBuckets]
}

// sum adds up what is in the window at now. It changes nothing, so that a reader an hour later neither sees old
// figures nor disturbs new ones.
func (w *window) sum(now time.Time) counts {
	var total counts
	for n := max(w.number(now)-windowBuckets+1, 0); n <= w.newest; n++ {
		b := &w.buckets[n%windowBuckets]
		total.calls += b.calls
		total.failures += b.failures
		total.slow += b.slow
		total.extra += b.extra
	}
	return total
}

func (w *window) reset() { w.buckets = [windowBuckets]counts{} }

func (w *window) number(now time.Time) int64 {
	since := now.Sub(w.epoch)
	if since < w.newestEnd { // nearly always, and a division is a good part of what a healthy call costs here
		return w.newest
	}
	return int64(since / w.bucketWidth)
}
