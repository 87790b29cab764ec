package incident

import (
	"context"
	"slices"
	"strings"
	"time"

	"watertight.example/demo/load"
)

const (
	oneByOne  = "one by one"
	allAtOnce = "all at once"
)

// behind is everything that a page has a stand-in for.
func behind() []string {
	return []string{"recommendations", "inventory", "pricing", "orders", "postgres-recommendations", "postgres-inventory-replica", "postgres-inventory", "postgres", "redis"}
}

// RestartAll kills everything behind the page, one after the other, and then all of it with the page, and starts it in no good order.
func RestartAll(speed float64) Incident {
	return Incident{
		Name: "restart-all", Title: "Everything restarts", Fault: "every service and store is killed and started again, one by one and then all at once",
		length: time.Minute, visits: load.Mix{Product: 80, Browse: 18, Buy: 2}, watched: []Place{stock(), pricing(), recommendations()},
		needs: needs{engine: true, books: true}, judge: judgeRestartAll,
		tell: func(ctx context.Context, s *stage) {
			s.speed = speed
			s.calm(baseline, "both pages are well")
			s.wait(ctx, time.Minute)

			s.act(oneByOne, "what is behind the page is killed and started again, one by one")
			for _, container := range behind() {
				s.kill(ctx, container)
				s.wait(ctx, 10*time.Second)
				s.start(ctx, container)
				s.wait(ctx, 20*time.Second)
			}
			s.until(ctx, "all pages are full", heals, s.shop.witnesses[0].whole)

			s.act(allAtOnce, "everything is killed at once, the page too, and started again, the stores last")
			everything := append([]string{"productpage"}, behind()...)
			s.kill(ctx, everything...)
			s.wait(ctx, 20*time.Second)
			s.start(ctx, everything...)
			s.until(ctx, "all pages are full", time.Minute, s.shop.witnesses[0].whole)

			s.calm(recovery, "everything is back")
			s.mend(ctx)
			s.wait(ctx, time.Minute)
		},
	}
}

func judgeRestartAll(r record) []Verdict {
	first, all := r.phase(oneByOne), r.phase(allAtOnce)
	return append([]Verdict{
		r.promise("no-errors", "No product page and no home page fails while what is behind it restarts", "none: no 5xx, no silence", func(s *seen) Finding {
			return none(s.where(func(one load.Sample) bool {
				return slices.Contains([]load.Kind{load.Product, load.Browse}, one.Kind)
			}).in(first), failed)
		}),
		r.budget("Product pages keep their budget meanwhile", first),
		r.told("whole", "After all of it was killed at once, all pages are full again", "within "+ms(time.Minute), r.fullAfter("started", all, time.Minute)),
	}, r.books()...)
}

// fullAfter finds the first full second after the last event of a phase that begins with what.
func (r record) fullAfter(what string, p phase, limit time.Duration) Finding {
	var since time.Time
	for _, e := range r.events {
		if strings.HasPrefix(e.Says, what) && !e.At.Before(p.From) && e.At.Before(p.To) {
			since = e.At
		}
	}
	if since.IsZero() {
		return unknown("did not happen")
	}
	r.mended = since
	end := r.phases[len(r.phases)-1].To
	at, ok := r.healed(r.protected, phase{From: since, To: end})
	if !ok {
		return found(false, "not within %s", ms(end.Sub(since)))
	}
	return found(at.Sub(since) <= limit, "after %s", ms(at.Sub(since)))
}
