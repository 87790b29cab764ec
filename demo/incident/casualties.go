package incident

import (
	"context"
	"slices"
	"time"

	"watertight.example/demo/load"
)

// casualty is what is killed in the middle, and what pages have to do without for it.
type casualty struct{ container, says string }

func casualties() []casualty {
	return []casualty{
		{"postgres-inventory-replica", "its host is not only slow: the replica is killed"},
		{"postgres-inventory", "the primary is killed while the replica is slow"},
		{"redis", "Redis is killed"},
		{"toxiproxy", "the proxy on all edges is killed: nothing behind the page can be reached"}, // the last: its faults die with it
	}
}

// Casualties is act one of the outage with a death in the middle of it, one after the other.
func Casualties(speed float64) Incident {
	return Incident{
		Name: "casualties", Title: "Killed in the middle of the outage", Fault: "while the replica's host is slow, the replica, the primary, Redis and the proxy are killed in turn",
		length: time.Minute, edges: []string{replicaEdge}, visits: load.Mix{Product: 70, Browse: 15, Order: 11, Buy: 4}, watched: []Place{replica(), stock()},
		needs: needs{engine: true, books: true}, judge: judgeCasualties,
		tell: func(ctx context.Context, s *stage) {
			s.speed = speed
			s.calm(baseline, "both pages are well")
			s.wait(ctx, time.Minute)
			for _, c := range casualties() {
				s.act(c.container, c.says)
				s.breakEdge(ctx, s.latency(replicaEdge, slowHosts, 0))
				s.wait(ctx, 30*time.Second)
				s.kill(ctx, c.container)
				s.wait(ctx, time.Minute)
				s.start(ctx, c.container)
				s.until(ctx, "all pages are full", heals, s.shop.witnesses[0].whole)
			}
			s.calm(recovery, "everything is back")
			s.forget()
			s.mend(ctx)
			s.wait(ctx, time.Minute)
		},
	}
}

// heals is how long after the return of a store all pages may need to be full: breakers of the page behind breakers of the services.
const heals = 40 * time.Second

// kill ends containers at once; they are started again whatever happens.
func (s *stage) kill(ctx context.Context, containers ...string) {
	s.do(ctx, func(ctx context.Context) error { return s.shop.Engine.Kill(ctx, containers...) },
		func(ctx context.Context) error { return s.shop.Engine.Start(ctx, containers...) })
	s.mark("killed: %q", containers)
}

// start is for those that the story itself starts again. Until it has, the kill is still to be undone: a story that is stopped just
// here must not leave a container dead.
func (s *stage) start(ctx context.Context, containers ...string) {
	if s.err != nil {
		return
	}
	if s.err = s.shop.Engine.Start(ctx, containers...); s.err != nil {
		return
	}
	s.undo = nil
	s.mark("started: %q", containers)
}

// forget is for faults that died with the proxy that had them.
func (s *stage) forget() { s.set, s.mended = nil, time.Now() }

func judgeCasualties(r record) []Verdict {
	shown := []load.Kind{load.Product, load.Browse} // a customer's own order has no copy: without orders its page says so, with 503
	incident := r.span(casualties()[0].container, recovery)
	verdicts := []Verdict{
		r.promise("no-errors", "No product page and no home page fails", "none: no 5xx, no silence", func(s *seen) Finding {
			return none(s.where(func(one load.Sample) bool { return slices.Contains(shown, one.Kind) }).in(incident), failed)
		}),
		r.budget("Product pages keep their budget", incident),
	}
	for _, c := range casualties() {
		p := r.phase(c.container)
		verdicts = append(verdicts, r.told("back-"+c.container, "When "+c.container+" is back, all pages are full again", "within "+ms(heals), r.fullAfter("started", p, heals)))
	}
	return append(verdicts, r.books()...)
}
