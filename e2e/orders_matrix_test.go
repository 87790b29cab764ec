//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	ordersWanted = flag.Int("orders", 5000, "how many orders TestOrdersUnderFaults places; make soak uses 100000")
	ordersSeed   = flag.Uint64("seed", 0, "the seed of TestOrdersUnderFaults: which faults, in which order; 0 takes the clock")
)

const (
	lanes         = 2 // troubles that may overlap
	settleLimit   = 2 * time.Minute
	buttonPresses = 4 // customers who buy through the page meanwhile
)

// TestOrdersUnderFaults is the fault matrix: two replicas of orders, impatient clients, and every row of deck at least once, two at a
// time. Then the databases are read. What must hold: DESIGN section 5, and I1 to I6 of the reference. The storm takes two minutes.
func TestOrdersUnderFaults(t *testing.T) {
	s := stack(t)
	s.noHalfOrders(t)
	s.Replica(t, "orders", "orders-2")
	s.waitWhole(t)
	seed := *ordersSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d; again with: go test -tags e2e -run TestOrdersUnderFaults . -orders=%d -seed=%d", seed, *ordersWanted, seed)
	opening, soldBefore := s.stock(t), s.sold(t)
	b := s.crowd(opening)

	w := newStorm(seed)
	// The whole deck, and once more for every 20,000 orders; those that a storm of this length leaves over are placed when it is quiet.
	enough := func(troubles int) bool { return troubles >= len(deck())*(1+*ordersWanted/20_000) }
	customers := s.stormAndBuyers(t, w, b, seed, enough)
	stormy := b.history.orders()
	rest := s.atRest(t, w.ended, restLimit)
	if last := b.history.last(); last > w.ended.Sub(b.history.began)+restLimit {
		t.Errorf("an order got its answer %s after the last fault", last-w.ended.Sub(b.history.began))
	}

	for _, c := range customers {
		c.v.t = t
		c.getsOneOrder(t)
	}
	b.comeBack(t.Context(), seed)
	quiet := time.Now()
	b.buy(t.Context(), seed+1, func() bool { return b.history.orders() >= *ordersWanted })
	quietTook := time.Since(quiet)
	b.comeBack(t.Context(), seed+1)
	s.atRest(t, time.Now(), restLimit)

	total := b.history.totals()
	t.Logf("%d orders (%d of them during %.0f s of troubles, %d in %.0f quiet s), %d refused; %d attempts: %d retries, %d replays, %d times 409, %d without an answer; the longest wish took %s",
		total.orders, stormy, w.ended.Sub(w.began).Seconds(), total.orders-stormy, quietTook.Seconds(), total.refusals,
		total.attempts, total.retries, total.replays, total.busy, total.lost, total.longest.Round(10*time.Millisecond))
	t.Logf("%s; all at rest %s after the last one", w.kinds(), rest)
	s.judge(t, b, w.ended.Sub(b.history.began), opening, soldBefore)
}

// stormAndBuyers lets troubles, buyers and customers of the page meet, until the storm is over and every buyer has an answer or has gone
// away. The customers have pressed the button once.
func (s *Stack) stormAndBuyers(t *testing.T, w *storm, b *crowd, seed uint64, enough func(int) bool) (customers []atTheButton) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over, done := make(chan struct{}), make(chan struct{})
	for range buttonPresses {
		customers = append(customers, s.atTheButton(t, 1021))
	}
	go func() {
		defer close(done)
		b.buy(ctx, seed, func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
	}()
	t.Run("storm", func(t *testing.T) {
		for range lanes {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				w.rage(t, s, enough)
			})
		}
		t.Run("page", func(t *testing.T) {
			t.Parallel()
			for _, c := range customers {
				time.Sleep(8 * time.Second)
				c.v.t = t
				c.press(t)
			}
		})
	})
	close(over)
	select {
	case <-done:
	case <-time.After(settleLimit):
		t.Errorf("clients wait for an answer %s after the last fault", settleLimit)
		cancel()
		<-done
	}
	return customers
}

// crowd is ready to buy at both replicas, each of them directly, and at either one by way of the proxy.
func (s *Stack) crowd(stock map[int]int) *crowd {
	b := &crowd{
		replicas: []string{s.URL("orders"), s.URL("orders-2"), "http://" + s.ports.addr("toxiproxy", ordersEdge)},
		pricing:  s.URL("pricing"),
		client:   &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crowdSize}},
		history:  &history{began: time.Now()},
		all:      len(stock),
	}
	for sku, n := range stock {
		if n > 0 && n < 10 {
			b.scarce = append(b.scarce, sku)
		}
	}
	slices.Sort(b.scarce) // a seed has to mean the same again
	return b
}

// judge reads the clients' history and the databases. calm is when the last trouble was over, in the history's time.
func (s *Stack) judge(t testing.TB, b *crowd, calm time.Duration, opening, soldBefore map[int]int) {
	t.Helper()
	if odd := b.odd.Load(); odd != nil {
		t.Errorf("an answer that no client may get: %s", *odd)
	}
	some := func(what string, wrong []string) {
		if len(wrong) > 0 {
			t.Errorf("%s: %d deviations, the first are:\n%s", what, len(wrong), strings.Join(wrong[:min(len(wrong), 10)], "\n"))
		}
	}
	intents := b.history.intents
	some("clients and orders", s.booksAgree(t, intents))
	some("I5: in progress", stuckInProgress(intents, calm))
	soldNow, left, oversold := s.sold(t), s.stock(t), []string(nil)
	for sku, was := range opening {
		if sold := soldNow[sku] - soldBefore[sku]; was-sold != left[sku] || left[sku] < 0 {
			oversold = append(oversold, fmt.Sprintf("sku %d: there were %d, %d were sold, %d are left", sku, was, sold, left[sku]))
		}
	}
	some("I4: stock", oversold)
	report := s.audit(t)
	if err := report.Err(); err != nil {
		report.Print(os.Stdout)
		t.Errorf("demo audit: %v", err)
	}
	began := time.Now()
	released := s.releasedHolds(t, b.history.began)
	some("linearizability", linearizable(intents, opening, released))
	t.Logf("%d keys and the stock of %d products are linearizable (%d holds were given back), %.1f s", len(intents), len(opening), len(released), time.Since(began).Seconds())

	// The recorded history has teeth, too: with one order more than there are answers for, it is refused.
	last := intents[len(intents)-1]
	last.attempts = append(last.attempts, attempt{call: last.ended + 1, back: last.ended + 2, outcome: executed})
	if faults := linearizable(intents, opening, released); len(faults) != 1 {
		t.Errorf("of a corrupted history %d keys are refused, want 1", len(faults))
	}
}
