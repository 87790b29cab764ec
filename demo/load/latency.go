package load

import (
	"math"
	"time"
)

// latencies counts durations in buckets that grow by 2 % from 100 µs to beyond a minute: a fixed 5 KB however long a
// run lasts, and a percentile is never off by more than those 2 %. It takes the nearest rank and not, like a
// digest, a point between two samples: of 99 answers in 10 ms and one in 4.8 s the 99th percentile is 10 ms.
type latencies struct {
	count   int
	max     time.Duration
	buckets [buckets]uint32
}

const (
	shortest = 100 * time.Microsecond
	growth   = 1.02
	buckets  = 700 // 100 µs * 1.02^699 = 103 s, above the longest timeout
)

func (l *latencies) add(d time.Duration) {
	l.count++
	l.max = max(l.max, d)
	i := 0
	if d > shortest {
		i = int(math.Ceil(math.Log(float64(d)/float64(shortest)) / math.Log(growth)))
	}
	l.buckets[min(i, buckets-1)]++
}

// quantile gives the smallest duration that at least the share q (0 to 1) of all did not exceed, rounded up by at
// most 2 %; 0 when there are none.
func (l *latencies) quantile(q float64) time.Duration {
	rank := max(1, int(math.Ceil(q*float64(l.count))))
	seen := 0
	for i, n := range l.buckets {
		if seen += int(n); seen >= rank && i < buckets-1 { // the last bucket has no upper end but the maximum
			upper := time.Duration(float64(shortest) * math.Pow(growth, float64(i)))
			return min(upper, l.max)
		}
	}
	return l.max
}
