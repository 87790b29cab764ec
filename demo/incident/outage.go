package incident

import (
	"context"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/load"
	"watertight.example/demo/planflip"
)

// The phases of the outage besides its baseline and its recovery.
const (
	slowFraction = "act one: some reads"
	slowHost     = "act one: all reads"
	hostBack     = "the host is back"
	slowStores   = "act two"
	storesBack   = "stores are back"
	planFlipped  = "act three"
	analyzed     = "analyzed"
)

// The dependencies the outage is about, and the edges that it breaks.
const (
	primaryEdge = "inventory-postgres"
	replicaEdge = "inventory-postgres-replica"
)

func replica() Place         { return Place{"inventory", "postgres-replica"} }
func stock() Place           { return Place{"productpage", "inventory"} }
func recommendations() Place { return Place{"productpage", optional} }

const (
	lateShare = 0.08                  // of the replica's answers: more than one in twenty, so that without hedging a p95 feels it
	lateMost  = 40 * time.Millisecond // a late answer is late by up to this: above the usual 2 ms, below the attempt timeout of 45 ms
	slowHosts = 35 * time.Millisecond // what a slow host costs each read: slow, and no timeout
	slowDisks = 2 * time.Second       // what act two costs each statement: longer than anybody waits for stock
	buyers    = 6                     // in the middle of act two
	naiveRate = 2                     // per second in act three: one flipped query burns a core for seconds
)

// Outage is article 1's "A 30-Minute Outage Timeline", in three acts that can happen (docs/errata.md says why its own could
// not). Its times are the article's; speed divides the waits, and only them.
func Outage(speed float64) Incident {
	return Incident{
		Name:    "outage",
		Title:   "The 30-minute outage",
		Fault:   "first the host of inventory's replica becomes slow, then both of its databases, then the plan of recommendations' query flips",
		length:  time.Minute,
		edges:   []string{primaryEdge, replicaEdge},
		visits:  load.Mix{Product: 70, Browse: 14, Order: 14, Buy: 2},
		watched: []Place{replica(), stock(), recommendations()},
		needs:   needs{books: true, flip: true},
		judge:   judgeOutage,
		tell: func(ctx context.Context, s *stage) {
			s.speed = speed
			tellOutage(ctx, s)
		},
	}
}

func tellOutage(ctx context.Context, s *stage) {
	s.calm(baseline, "both pages are well")
	s.see(ctx, 2*time.Minute)

	s.act(slowFraction, "the replica's host is late with one read in twelve: too few for a breaker, enough for a p95")
	s.breakEdge(ctx, s.latency(replicaEdge, lateMost, lateShare))
	s.see(ctx, 3*time.Minute)

	s.act(slowHost, "now all of its reads are slow: hedging would only double the load, and its cap keeps it from that")
	s.breakEdge(ctx, s.latency(replicaEdge, slowHosts, 0))
	s.until(ctx, "the replica's limit is cut", 10*time.Second, s.limitBelow(replica()))
	s.until(ctx, "the replica's breaker is open, reads go to the primary", 15*time.Second, s.breakerIs(replica(), "open"))
	s.wait(ctx, 2*time.Minute)

	s.calm(hostBack, "the host is repaired; nobody tells the shop")
	s.mend(ctx)
	s.until(ctx, "reads are back on the replica, its limit restored", restoreWithin+5*time.Second, s.restored(replica()))
	s.wait(ctx, time.Minute)

	s.act(slowStores, "both of inventory's databases are slow: nobody can ask them for stock")
	s.breakEdge(ctx, s.latency(primaryEdge, slowDisks, 0))
	s.breakEdge(ctx, s.latency(replicaEdge, slowDisks, 0))
	s.until(ctx, "the page's breaker is open, the snapshot serves", 10*time.Second, s.breakerIs(stock(), "open"))
	s.buy(ctx, buyers)
	s.wait(ctx, 4*time.Minute)

	s.calm(storesBack, "both are repaired")
	s.mend(ctx)
	s.until(ctx, "stock is live again, its limit restored", restoreWithin+5*time.Second, s.restored(stock()))
	s.served(ctx, settle)
	s.wait(ctx, time.Minute)

	s.act(planFlipped, "the plan of recommendations' query flips: same rows, same code, other statistics")
	s.slowNaive(naiveRate)
	s.flip(ctx)
	s.until(ctx, "the page's breaker is open, pages show what they had", 15*time.Second, s.breakerIs(recommendations(), "open"))
	s.wait(ctx, 3*time.Minute)

	s.calm(analyzed, "the engineer on call runs ANALYZE; nothing else is touched")
	s.mend(ctx)
	s.until(ctx, "one probe, and all pages are full", s.shop.OpenFor+patience, func() bool { return s.breakerIs(recommendations(), "closed")() && s.shop.witnesses[0].whole() })
	s.until(ctx, "the limit is restored", restoreWithin, s.restored(recommendations()))
	s.wait(ctx, 2*time.Minute)
}

// latency is a fault that outlives everything the story still does with it.
func (s *stage) latency(edge string, by time.Duration, share float64) faults.Fault {
	return faults.Fault{Kind: "latency", Edge: edge, Latency: by, Share: share, For: time.Duration(float64(10*time.Minute)/s.speed) + time.Minute}
}

// slowNaive lets fewer visitors come to the naive page.
func (s *stage) slowNaive(rate int) {
	if s.err == nil && len(s.shop.witnesses) > 1 {
		s.shop.witnesses[1].slowTo(rate)
	}
}

// flip turns the plan; mend, and everything else that ends the story, analyzes.
func (s *stage) flip(ctx context.Context) {
	s.notePlan(ctx)
	length := time.Duration(float64(10*time.Minute)/s.speed) + time.Minute // it has an end of its own, like any fault
	s.do(ctx, func(ctx context.Context) error {
		_, err := planflip.Flip(ctx, s.shop.Plans, length)
		return err
	}, func(ctx context.Context) error {
		err := planflip.Analyze(ctx, s.shop.Plans)
		s.notePlan(ctx)
		return err
	})
	s.notePlan(ctx)
	s.mark("the plan has flipped")
}

// notePlan writes the present plan into the ledger.
func (s *stage) notePlan(ctx context.Context) {
	if s.err != nil {
		return
	}
	state, err := planflip.State(ctx, s.shop.Plans)
	name := "by key"
	switch {
	case err != nil:
		name = "unknown: " + err.Error()
	case state.Plan.Flipped:
		name = "row by row"
	}
	s.shop.ledger.plans = append(s.shop.ledger.plans, plan{time.Now(), name})
}
