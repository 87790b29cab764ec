//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// neededPart is a service that an order needs.
type neededPart struct {
	service, lacks string              // "": the page does not need it
	slow           []string            // edges that make it slow for everybody who asks, as far as there are any
	fallback       func(f facts) error // what the page shows of product 42 instead
}

// TestNeededPartsFail makes each of the services that an order needs slow, hung and down. The page answers in its budget with the
// part's fallback. A customer who presses the button meanwhile gets the order or is told what to do, and gets it later by pressing
// again: one order, never a half one.
func TestNeededPartsFail(t *testing.T) {
	for _, part := range []neededPart{
		{"inventory", "stock", []string{"inventory-postgres", "inventory-postgres-replica"}, showsSnapshot},
		{"pricing", "price", []string{"productpage-pricing", "orders-pricing"}, showsLastPrice},
		{"orders", "", []string{"productpage-orders"}, showsAll},
	} {
		slow := faults.Fault{Kind: "latency", Latency: 400 * time.Millisecond} // twice what a page gives a part
		for _, way := range []struct {
			name          string
			breakIt, mend func(*Stack, testing.TB)
		}{
			{"slow", func(s *Stack, t testing.TB) { s.Break(t, slow, part.slow...) }, func(s *Stack, t testing.TB) { s.Mend(t) }},
			{"hung", func(s *Stack, t testing.TB) { s.Pause(t, part.service) }, func(s *Stack, t testing.TB) { s.Unpause(t, part.service) }},
			{"down", func(s *Stack, t testing.TB) { s.Kill(t, part.service) }, func(s *Stack, t testing.TB) { s.Start(t, part.service) }},
		} {
			t.Run(part.service+" "+way.name, func(t *testing.T) {
				fairly(t, func(t testing.TB) { part.fails(t, way.breakIt, way.mend) })
			})
		}
	}
	stack(t).noHalfOrders(t)
}

// fails breaks the part, with visitors on the page and two customers at the button, and mends it.
func (part neededPart) fails(t testing.TB, breakIt, mend func(*Stack, testing.TB)) {
	s := stack(t)
	s.waitWhole(t)
	early, late := s.atTheButton(t, 1301), s.atTheButton(t, 1303)
	b := browse(t, s.URL("productpage"), 20)
	time.Sleep(time.Second)

	breakIt(s, t)
	broken := time.Now()
	early.press(t) // the first to meet it: no breaker has opened yet
	time.Sleep(3 * time.Second)
	if err := part.fallback(pageFacts(t, s, 42)); err != nil {
		t.Error(err)
	}
	late.press(t)
	arrivesNow(t, s)
	mending := time.Now()
	mend(s, t)
	s.WaitReady(t, part.service)
	b.heals(t, time.Now(), openFor+probeTime)

	all := b.stop()
	all.noneFails(t)
	all.keepTheBudget(t)
	if sick := all.within(broken, mending); part.lacks != "" {
		sick.allLack(t, part.lacks)
	} else if lacking := sick.where(func(v visit) bool { return !v.whole() && !v.excused() }); len(lacking)*100 > len(sick) {
		t.Errorf("%d of %d pages lack something, and need no %s: %v", len(lacking), len(sick), part.service, lacking)
	}
	early.getsOneOrder(t)
	late.getsOneOrder(t)
}

func showsSnapshot(f facts) error {
	if f.Stock == nil || !f.Stock.Snapshot { // Redis is well and holds a count of at most two minutes
		return fmt.Errorf("without inventory the page shows %+v as stock, want the snapshot", f.Stock)
	}
	return nil
}

func showsLastPrice(f facts) error {
	if f.Price == nil || !f.Price.Stale || f.Price.Amount <= 0 { // waitWhole has just shown it this page
		return fmt.Errorf("without pricing the page shows %+v as price, want the last known", f.Price)
	}
	return nil
}

func showsAll(f facts) error {
	if f.Price == nil || f.Price.Stale || f.Stock == nil || f.Stock.Snapshot || len(f.Degraded) > 0 {
		return fmt.Errorf("a page needs no orders, but lacks %v: %+v %+v", f.Degraded, f.Price, f.Stock)
	}
	return nil
}

// TestOrderPagesAreFastWhileRecommendationsHang is article 1's point about a shared pool: what has nothing to do with the sick part
// must not wait for it.
func TestOrderPagesAreFastWhileRecommendationsHang(t *testing.T) { fairly(t, orderPagesAreFast) }

func orderPagesAreFast(t testing.TB) {
	s := stack(t)
	s.waitWhole(t)
	v := newVisitor(t, s.URL("productpage"))
	order := buy(t, v, 1305).url.String()
	looks := func(n int) (all visits) {
		for range n {
			all = append(all, look(v.client, order))
			time.Sleep(50 * time.Millisecond)
		}
		return all
	}
	b := browse(t, s.URL("productpage"), 20)
	before := looks(60)
	s.Break(t, faults.Fault{Kind: "hang"}, "productpage-recommendations")
	during := looks(120) // from the first moment on, when every product page still waits for its part
	s.Mend(t)
	after := looks(60)
	b.stop().noneFails(t)

	during.noneFails(t)
	pauses := b.heart.SoFar()
	during.without(pauses).areAsFastAs(t, append(before, after...).without(pauses))
	if n := len(during.where(func(v visit) bool { return v.status == http.StatusOK })); n < 100 {
		t.Errorf("only %d of %d order pages", n, len(during))
	}
}
