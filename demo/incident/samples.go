package incident

import (
	"cmp"
	"math"
	"slices"
	"time"

	"watertight.example/demo/load"
)

// samples are raw answers, in any order.
type samples []load.Sample

func (s samples) where(keep func(load.Sample) bool) samples {
	var kept samples
	for _, one := range s {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// of keeps one kind of page.
func (s samples) of(kind load.Kind) samples {
	return s.where(func(one load.Sample) bool { return one.Kind == kind })
}

// sent keeps what was asked for in [from, to).
func (s samples) sent(from, to time.Time) samples {
	return s.where(func(one load.Sample) bool { return !one.At.Before(from) && one.At.Before(to) })
}

func (s samples) in(p phase) samples { return s.sent(p.From, p.To) }

// answered keeps what had its end before to.
func (s samples) answered(to time.Time) samples {
	return s.where(func(one load.Sample) bool { return ended(one).Before(to) })
}

func (s samples) count(is func(load.Sample) bool) int { return len(s.where(is)) }

// quantile is the smallest latency that at least the share q of all samples did not exceed; failed ones are among
// them, because waiting in vain is waiting too. It is 0 of none.
func (s samples) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(s), func(a, b load.Sample) int { return cmp.Compare(a.Latency, b.Latency) })
	rank := int(math.Ceil(q*float64(len(s)) - 1e-9)) // 0.95 is a little less or more than it says
	return sorted[max(rank, 1)-1].Latency
}

func (s samples) p95() time.Duration { return s.quantile(0.95) }

func failed(s load.Sample) bool   { return s.Class == load.Failed }
func degraded(s load.Sample) bool { return s.Class == load.Degraded }
func slower(than time.Duration) func(load.Sample) bool {
	return func(s load.Sample) bool { return s.Latency > than }
}
func lacks(part string) func(load.Sample) bool {
	return func(s load.Sample) bool { return slices.Contains(s.Parts, part) }
}
func ended(s load.Sample) time.Time { return s.At.Add(s.Latency) }

// relative is the bound on a p95 whose baseline is base: twice as long, or 25 ms more where twice is next to nothing.
func relative(base time.Duration) time.Duration {
	return max(2*base, base+25*time.Millisecond)
}
