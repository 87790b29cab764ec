//go:build e2e

package e2e

import (
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// TestEverythingBehindThePageIsSick breaks every edge of recommendations, inventory and pricing at once: those to the page and
// those to their databases. A page is then what the shop knows by itself, and says so; but it is a page, and in its time.
func TestEverythingBehindThePageIsSick(t *testing.T) {
	edges := []string{"productpage-recommendations", "productpage-inventory", "productpage-pricing",
		"recommendations-postgres", "inventory-postgres", "inventory-postgres-replica"}
	for _, kind := range []string{"hang", "refuse", "latency"} {
		t.Run(kind, func(t *testing.T) {
			fairly(t, func(t testing.TB) { everythingIs(t, faults.Fault{Kind: kind, Latency: 4800 * time.Millisecond}, edges) })
		})
	}
}

func everythingIs(t testing.TB, fault faults.Fault, edges []string) {
	s := stack(t)
	s.waitWhole(t)
	b := browse(t, s.URL("productpage"), 20)
	began := time.Now()
	time.Sleep(3 * time.Second)

	breaking := time.Now()
	s.Break(t, fault, edges...)
	broken := time.Now()
	time.Sleep(8 * time.Second)
	mending := time.Now()
	s.Mend(t)
	// An open period and a probe of the page, behind which inventory's own breakers have ended theirs of 2 s.
	b.heals(t, time.Now(), openFor+probeTime)

	all := b.stop()
	all.noneFails(t)
	all.keepTheBudget(t)
	sick := all.within(broken, mending)
	for _, part := range []string{"price", "stock", "recommendations"} {
		sick.allLack(t, part)
	}
	// With three breakers open a page asks nobody, and must not be slower than one that asks three. Only those that
	// probe are: one per breaker and open period, which at 20 pages a second is more than one in twenty, so they are
	// counted instead of looking at the p95.
	usual := all.within(began, breaking).bound()
	slow := all.within(broken.Add(openWithin), mending).where(func(v visit) bool { return v.slower(usual) })
	if probes := 3 * (1 + int(mending.Sub(broken.Add(openWithin)).Seconds()/(0.8*openFor.Seconds()))); len(slow) > probes {
		t.Errorf("%d pages took longer than %s, and at most %d of them probed: %v", len(slow), usual, probes, slow)
	}
}
