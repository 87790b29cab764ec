//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// storeHeals is how long after a store accepts connections again all pages have to be whole: breakers of the page behind breakers
// of the services, each probing once per open period.
const storeHeals = 10 * time.Second

// storeOutage is a store that goes and comes back.
type storeOutage struct {
	name, store string
	lacks       string // what pages lack meanwhile; "": inventory has two databases, and Redis is a short cut
	happens     func(*Stack, testing.TB, *browsing) (back time.Time)
}

// TestStoresComeAndGo takes each store away under load and gives it back. Nobody restarts anything and nothing may restart itself:
// the services keep their processes, the pages keep coming, say what they lack, and are whole again soon after.
func TestStoresComeAndGo(t *testing.T) {
	away := func(take, give func(*Stack, testing.TB, ...string), store string) func(*Stack, testing.TB, *browsing) time.Time {
		return func(s *Stack, t testing.TB, b *browsing) time.Time {
			take(s, t, store)
			if store == "redis" { // of no order the truth is in Redis, so nobody needs it to buy
				buy(t, newVisitor(t, s.URL("productpage")), 1203)
				s.Pause(t, "inventory")
				s.noCounts(t, b)
			}
			time.Sleep(4 * time.Second) // long enough for every breaker in front of it to open
			back := time.Now()
			give(s, t, store)
			return back
		}
	}
	stop, kill, pause := (*Stack).Stop, (*Stack).Kill, (*Stack).Pause
	start, unpause := (*Stack).Start, (*Stack).Unpause
	for _, outage := range []storeOutage{
		{"redis gone", "redis", "", away(stop, start, "redis")},
		{"redis frozen", "redis", "", away(pause, unpause, "redis")},
		{"redis flushed", "redis", "", flush},
		{"postgres restarted", "postgres", "price", away(stop, start, "postgres")},
		{"postgres killed", "postgres", "price", away(kill, start, "postgres")},
		{"postgres-recommendations restarted", "postgres-recommendations", "recommendations", away(stop, start, "postgres-recommendations")},
		{"postgres-recommendations killed", "postgres-recommendations", "recommendations", away(kill, start, "postgres-recommendations")},
		{"postgres-inventory restarted", "postgres-inventory", "", away(stop, start, "postgres-inventory")},
		{"postgres-inventory killed", "postgres-inventory", "", away(kill, start, "postgres-inventory")},
		{"postgres-inventory-replica restarted", "postgres-inventory-replica", "", away(stop, start, "postgres-inventory-replica")},
		{"postgres-inventory-replica killed", "postgres-inventory-replica", "", away(kill, start, "postgres-inventory-replica")},
		{"postgres-inventory-replica behind", "postgres-inventory-replica", "", behind},
	} {
		t.Run(outage.name, func(t *testing.T) { fairly(t, outage.play) })
	}
}

func (outage storeOutage) play(t testing.TB) {
	s := stack(t)
	s.waitWhole(t)
	born := s.births(t, services...)
	b := browse(t, s.URL("productpage"), 20)
	time.Sleep(time.Second)
	gone := time.Now()
	back := outage.happens(s, t, b)
	s.waitAccepts(t, outage.store)
	b.heals(t, time.Now(), storeHeals)
	if strings.HasPrefix(outage.store, "postgres-inventory") {
		s.replicaFollows(t)
	}

	all := b.stop()
	all.noneFails(t)
	all.keepTheBudget(t)
	if outage.lacks != "" && len(all.within(gone, back).where(func(v visit) bool { return v.lacks(outage.lacks) })) < 20 {
		t.Errorf("hardly a page said that it lacked its %s: %s was not missed", outage.lacks, outage.store)
	}
	for service, now := range s.births(t, services...) {
		if now != born[service] {
			inexcusable(t, "%s is another process than before", service)
		}
	}
	s.sellsAgain(t)
}

// sellsAgain: all of the shop is back, not only its window, which needs none of the breakers that only orders use. Who is refused while one
// of them is still open presses again, and gets one order.
func (s *Stack) sellsAgain(t testing.TB) {
	t.Helper()
	eventuallyIn(t, storeHeals, "the checkout has a button", func() bool {
		return strings.Contains(newVisitor(t, s.URL("productpage")).get("/checkout?sku=1203&qty=1").body, `name="quote"`)
	})
	s.atTheButton(t, 1203).getsOneOrder(t)
}

// flush empties Redis while inventory is frozen: one that runs would write its snapshot again within half a minute.
func flush(s *Stack, t testing.TB, b *browsing) time.Time {
	s.Pause(t, "inventory")
	if err := s.Redis().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s.noCounts(t, b)
	return time.Now()
}

// noCounts looks at the shop while inventory is frozen and there is no snapshot of it: nobody knows a count. The pages say so, show
// none rather than an invented one, and still sell; once inventory goes on they are whole, with or without Redis.
func (s *Stack) noCounts(t testing.TB, b *browsing) {
	t.Helper()
	frozen := time.Now()
	time.Sleep(2 * time.Second) // 40 pages, of which the first have to wait for the time-outs
	if f := pageFacts(t, s, 42); f.Stock != nil || !slices.Contains(f.Degraded, "stock") {
		t.Errorf("with inventory frozen and no snapshot the page shows %+v as stock and lacks %v", f.Stock, f.Degraded)
	}
	p := newVisitor(t, s.URL("productpage")).get("/products/43")
	want(t, p, http.StatusOK)
	if !strings.Contains(p.text(), "We cannot count our stock right now. You can order") {
		t.Errorf("the page does not say that it has no count: %s", clip(p.text()))
	}
	p.form(t, "/checkout") // or it fails: the way to the checkout is there
	arrivesNow(t, s)
	b.soFar().within(frozen, time.Now()).allLack(t, "stock")
	s.Unpause(t, "inventory")
	b.heals(t, time.Now(), storeHeals)
}
