package resilience

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestWindowAgainstAList compares the buckets with a list of everything that ever happened.
func TestWindowAgainstAList(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const span = 10 * time.Second
	now := time.Now()
	w := newWindow(span, now)
	epoch := now
	var happened []time.Time
	for i := range 5000 {
		now = now.Add(time.Duration(rng.Int64N(int64(300 * time.Millisecond))))
		if i%500 == 499 {
			now = now.Add(time.Duration(rng.Int64N(int64(2 * span))))
		}
		w.at(now).calls++
		w.at(now).failures += i % 2
		happened = append(happened, now)

		oldest := epoch.Add(now.Sub(epoch).Truncate(span / windowBuckets)).Add(span/windowBuckets - span)
		want := 0
		for j := len(happened) - 1; j >= 0 && !happened[j].Before(oldest); j-- {
			want++
		}
		if got := w.sum(now); got.calls != want || got.failures < want/2 || got.failures > (want+1)/2 {
			t.Fatalf("after %d: %+v, want %d calls, half of them failed", i, got, want)
		}
	}
	before := w
	if got := w.sum(now.Add(time.Hour)); got != (counts{}) || w != before {
		t.Error("reading later either sees old counts or changes them")
	}
}

func TestWindowTakesALateReport(t *testing.T) {
	now := time.Now()
	w := newWindow(10*time.Second, now)
	w.at(now.Add(5*time.Second)).calls++
	w.at(now.Add(4*time.Second)).calls++ // two callers, whose clock readings overtook each other
	if got := w.sum(now.Add(5 * time.Second)).calls; got != 2 {
		t.Errorf("%d calls, want both", got)
	}
}
