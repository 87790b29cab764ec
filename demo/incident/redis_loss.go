package incident

import (
	"context"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/load"
)

const (
	redisEdge = "redis"
	redisToo  = "redis is lost too"
)

// RedisLoss takes Redis away just when its snapshot is needed. There is then no count to show, and still a page, and still an order:
// of neither the truth is in Redis.
func RedisLoss(speed float64) Incident {
	return Incident{
		Name: "redis-loss", Title: "Redis is lost while it is needed", Fault: "both databases of inventory are slow, and Redis, which has the snapshot of their counts, is lost",
		length: time.Minute, edges: []string{primaryEdge, replicaEdge, redisEdge}, visits: visits(),
		watched: []Place{stock(), {"productpage", "redis"}}, needs: needs{books: true}, judge: judgeRedisLoss,
		tell: func(ctx context.Context, s *stage) {
			s.speed = speed
			s.calm(baseline, "both pages are well")
			s.see(ctx, 2*time.Minute)

			s.act(slowStores, "both databases of inventory are slow: the snapshot serves")
			s.breakEdge(ctx, s.latency(primaryEdge, slowDisks, 0))
			s.breakEdge(ctx, s.latency(replicaEdge, slowDisks, 0))
			s.until(ctx, "the page's breaker is open, the snapshot serves", 10*time.Second, s.breakerIs(stock(), "open"))
			s.wait(ctx, time.Minute)

			s.act(redisToo, "now Redis is gone as well: there is no count to show")
			s.breakEdge(ctx, faults.Fault{Kind: "refuse", Edge: redisEdge, For: s.latency(redisEdge, slowDisks, 0).For})
			s.buy(ctx, 2)
			s.see(ctx, 2*time.Minute)

			s.calm(recovery, "all three are back")
			s.mend(ctx)
			s.until(ctx, "all pages are full", 2*restoreWithin, s.shop.witnesses[0].whole)
			s.served(ctx, settle)
			s.wait(ctx, time.Minute)
		},
	}
}

func judgeRedisLoss(r record) []Verdict {
	base, sick, incident := r.phase(baseline), r.phase(redisToo), r.span(slowStores, recovery)
	return append([]Verdict{
		r.promise("no-errors", "No page fails", "none: no 5xx, no silence", func(s *seen) Finding {
			return none(s.where(func(one load.Sample) bool { return one.Kind != load.Place }).in(incident), failed)
		}),
		r.budget("Product pages keep their budget", incident),
		r.promise("marked", "Pages say that there is no count", "all do", func(s *seen) Finding {
			pages := s.of(load.Product).in(sick).answered(sick.To)
			return within(pages, pages.count(lacks("stock")) == len(pages), "%d of %d", pages.count(lacks("stock")), len(pages))
		}),
		r.unrelated("home", "The home page notices nothing", load.Browse, base, sick),
		r.told("button", "Whoever presses the button has an order or a clean refusal", "303, 422, or 503 with Retry-After", r.cleanAnswers()),
		r.told("one-intent", "The same form makes one order in the end", "each, also pressed twice at once", r.orderedOnce()),
		r.promise("heals", "Once mended, all product pages are full again", "within "+ms(2*restoreWithin), func(s *seen) Finding {
			return r.orTooEarly(r.healsWithin(s, r.phase(recovery), 2*restoreWithin))
		}),
	}, r.books()...)
}
