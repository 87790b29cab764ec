package incident

import (
	"fmt"
	"time"

	"watertight.example/demo/audit"
	"watertight.example/demo/load"
)

// keptOutage is the record of an outage in which everything was as promised.
func keptOutage() record {
	r := record{
		began: start, openFor: 10 * time.Second, rate: 25,
		phases: []phase{calmly(baseline, 0, 10), sick(slowFraction, 10, 20), sick(slowHost, 20, 35), calmly(hostBack, 35, 45),
			sick(slowStores, 45, 60), calmly(storesBack, 60, 70), sick(planFlipped, 70, 80), calmly(analyzed, 80, 105)},
		broken: second(10), mended: second(80),
		protected: newSeenOf(), naive: newSeenOf(), services: map[string]insight{"inventory": newSeenOf().insight},
		ledger: ledger{audited: &audit.Report{Orders: 20, Checks: []audit.Check{{Demand: "nothing is oversold"}}},
			plans: []plan{{second(70), "by key"}, {second(71), "row by row"}, {second(80), "by key"}}},
	}
	for range 6 {
		r.customers = append(r.customers, presses{First: []answer{{Took: time.Second, Status: 303}, {Took: time.Second, Status: 503, RetryAfter: true}}, Order: "/orders/1"})
	}
	for _, p := range append(r.phases, phase{From: second(105)}) {
		primary := 0
		if p.From.After(second(10)) {
			primary = 10 // hedges, for the 200 reads of slowFraction
		}
		r.ledger.reads = append(r.ledger.reads, reads{At: p.From, Primary: primary})
	}
	visitOutage(&r)
	for i := range 105 * 5 {
		at := float64(i) / 5
		limits := func(sickFrom, openFrom, closed, restored float64, limit int) reading {
			one := reading{At: second(at), Breaker: "closed", Limit: limit}
			if at >= sickFrom && at < restored {
				one.Limit = limit / 2
			}
			if at >= openFrom && at < closed {
				one.Breaker = "open"
			}
			return one
		}
		of := func(p Place) map[string][]reading { return r.place(p).readings }
		of(replica())[replica().Dependency] = append(of(replica())[replica().Dependency], limits(21, 25, 40, 42, 20))
		of(stock())["inventory"] = append(of(stock())["inventory"], limits(45.2, 46, 61, 62, 50))
		of(stock())[optional] = append(of(stock())[optional], limits(71, 72, 81.5, 83, 50))
	}
	r.protected.scrapes = outageScrapes()
	r.services["inventory"] = insight{r.services["inventory"].readings, outageScrapes()}
	return r
}

// visitOutage lets the visitors come: the page lacks live stock in act two, recommendations in act three; the naive one waits.
func visitOutage(r *record) {
	for i := range 105 * 25 {
		at := second(float64(i) / 25)
		kind := []load.Kind{load.Browse, load.Order}[i%2]
		if i%10 > 3 {
			kind = load.Product
		}
		mine := load.Sample{Kind: kind, At: at, Latency: 30 * time.Millisecond, Status: 200}
		theirs := mine
		switch between := func(from, to float64) bool { return !at.Before(second(from)) && at.Before(second(to)) }; {
		case kind != load.Product:
		case between(46, 61):
			mine.Class, mine.Parts, mine.Banner = load.Degraded, []string{"stock"}, true
			theirs.Latency = 4 * time.Second
		case between(72, 82):
			mine.Class, mine.Parts = load.Degraded, []string{optional}
			theirs.Latency = 5 * time.Second
		}
		r.protected.samples, r.naive.samples = append(r.protected.samples, mine), append(r.naive.samples, theirs)
	}
}

// outageScrapes are both services' in one: 20 calls a second to each dependency, a probe in every one of two open periods.
func outageScrapes() (list []scrape) {
	for i := range 105 {
		s := scrape{second(float64(i)), map[string]float64{
			`dependency_calls_total{dependency="postgres-replica"}`:                                  float64(20 * i),
			`dependency_attempt_duration_seconds_count{dependency="recommendations"}`:                float64(i / 76),
			`circuit_breaker_state_changes_total{dependency="recommendations",to_state="half_open"}`: float64(i / 76),
			`circuit_breaker_state_changes_total{dependency="recommendations",to_state="closed"}`:    float64(i / 82),
		}}
		for _, dependency := range []string{"pricing", "inventory", optional} {
			for _, le := range []string{"0.02", "0.2", "+Inf"} {
				s.series[fmt.Sprintf(`dependency_call_duration_seconds_bucket{dependency=%q,le=%q}`, dependency, le)] = float64(20 * i)
			}
		}
		list = append(list, s)
	}
	return list
}
