package main

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/resilience/resiliencetest"
)

// An inventory that has just come back is asked by one probe first, and then once per product at a time, however many visitors
// want it: without the breaker and the shared calls it would get all of them at once and fall over again.
func TestARecoveringInventoryIsNotStampeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const gone, products, visitors, takes = 10 * time.Second, 20, 50, 50 * time.Millisecond
		script := resiliencetest.NewScript(resiliencetest.Phase{For: gone, Do: resiliencetest.Hang()}, resiliencetest.Phase{Do: resiliencetest.Answer(takes)})
		r := newRehearsal(t, script)
		r.run(t, gone)
		if got := r.dep.State().Breaker; got == resilience.BreakerClosed {
			t.Fatal("the breaker is closed")
		}
		time.Sleep(5 * time.Second) // until a probe may pass

		before, _, _ := script.Calls()
		first := r.crowd(t, products, visitors)
		if after, _, _ := script.Calls(); after-before != 1 || first[live] != visitors {
			t.Errorf("%d calls for the first crowd of %d, %d of whom saw a live count; want one probe, whose answer all visitors of its product share",
				after-before, products*visitors, first[live])
		}
		before, _, _ = script.Calls()
		second := r.crowd(t, products, visitors)
		if after, _, _ := script.Calls(); after-before != products || second[live] != products*visitors {
			t.Errorf("%d calls for the second, %v; want one for each of %d products", after-before, second, products)
		}
	})
}

// crowd sends visitors to each of the products at the same moment, and tells what they were shown.
func (r *rehearsal) crowd(t *testing.T, products, visitors int) map[source]int {
	var pages sync.WaitGroup
	var mu sync.Mutex
	shown := map[source]int{}
	for sku := range products {
		for range visitors {
			pages.Go(func() {
				_, from := r.stock(t.Context(), 1+sku)
				mu.Lock()
				defer mu.Unlock()
				shown[from]++
			})
		}
	}
	pages.Wait()
	return shown
}
