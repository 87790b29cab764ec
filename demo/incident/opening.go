package incident

import (
	"context"
	"time"

	"watertight.example/demo/faults"
)

// Times are the lengths of an incident's phases. A fault lasts for 1 s to 59 min.
type Times struct{ Baseline, Fault, Recovery time.Duration }

// slowness is what article 1, "The opening incident", measured: a query that took 10 ms takes 4.8 s.
const slowness = 4800 * time.Millisecond

// Opening is article 1's opening incident: the database of recommendations, an optional part of the page, becomes slow.
// The page that waits for it goes down with it, and takes along what never needed it. edges are the Toxiproxy edges
// between recommendations and that database.
func Opening(times Times, edges ...string) Incident {
	return Incident{
		Name:    "opening",
		Title:   "The opening incident",
		Fault:   "the database of recommendations answers 4.8 s late",
		length:  times.Fault,
		edges:   edges,
		visits:  visits(),
		watched: []Place{{"productpage", optional}},
		judge:   judgeOpening,
		tell: func(ctx context.Context, s *stage) {
			tell(ctx, s, times, "the database of recommendations answers 4.8 s late", func() {
				for _, edge := range edges {
					s.breakEdge(ctx, faults.Fault{Kind: "latency", Edge: edge, Latency: slowness, For: times.Fault + expiry})
				}
			})
		},
	}
}

// Losing is every other way of losing recommendations. The promises are the opening incident's, because a page must not care which way
// it is; lose and restore are the caller's own, for what Toxiproxy cannot do, such as killing a process. Both return when they are
// done. restore is called once after lose, also when ctx has ended meanwhile, and then has 30 s.
func Losing(times Times, how string, lose, restore func(context.Context) error) Incident {
	return Incident{
		Name:    "losing",
		Title:   "Recommendations are lost",
		Fault:   how,
		length:  times.Fault,
		visits:  visits(),
		watched: []Place{{"productpage", optional}},
		judge:   judgeOpening,
		tell: func(ctx context.Context, s *stage) {
			tell(ctx, s, times, how, func() { s.do(ctx, lose, restore) })
		},
	}
}

// tell is the plot of both: the usual, then something breaks, then it is mended.
func tell(ctx context.Context, s *stage, times Times, how string, breakIt func()) {
	s.calm(baseline, "both pages are well")
	s.wait(ctx, times.Baseline)

	s.act(fault, how)
	breakIt()
	s.wait(ctx, times.Fault)

	s.calm(recovery, "mended; the pages are left to themselves")
	s.mend(ctx)
	s.wait(ctx, times.Recovery)
}
