package incident

import (
	"time"

	"watertight.example/demo/load"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func second(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

func calmly(name string, from, to float64) phase {
	return phase{Name: name, From: second(from), To: second(to)}
}
func sick(name string, from, to float64) phase {
	return phase{Name: name, Sick: true, From: second(from), To: second(to)}
}

func newSeenOf() *seen { return &seen{insight: insight{readings: map[string][]reading{}}} }

// kept is the record of an incident in which everything was as promised: fault from second 10 to 40, the breaker open
// from second 10.6, full pages from second 41 on.
func kept() record {
	r := record{
		began:  start,
		phases: []phase{calmly(baseline, 0, 10), sick(fault, 10, 40), calmly(recovery, 40, 85)},
		broken: second(10.01), mended: second(40.02), openFor: 30 * time.Second, rate: 25,
		protected: newSeenOf(), naive: newSeenOf(),
	}
	for i := range 85 * 25 {
		at := second(float64(i) / 25)
		kind := load.Product
		switch i % 10 {
		case 0:
			kind = load.Browse
		case 1:
			kind = load.Order
		}
		mine := load.Sample{Kind: kind, At: at, Latency: 30 * time.Millisecond, Status: 200}
		theirs := mine
		if at.After(second(10)) && at.Before(second(41)) && kind == load.Product {
			mine.Class, mine.Parts = load.Degraded, []string{"recommendations"}
		}
		if at.After(second(10)) && at.Before(second(45)) {
			theirs.Latency = 4900 * time.Millisecond
		}
		r.protected.samples, r.naive.samples = append(r.protected.samples, mine), append(r.naive.samples, theirs)
	}
	for i := range 85 * 5 {
		one := reading{At: second(float64(i) / 5), Breaker: "closed", InFlight: 2, Limit: 50}
		if one.At.After(second(10.5)) && one.At.Before(second(41)) {
			one.Breaker = "open"
		}
		r.protected.readings[optional] = append(r.protected.readings[optional], one)
	}
	for i := range 85 {
		r.protected.scrapes = append(r.protected.scrapes, scrape{second(float64(i)), map[string]float64{
			`go_goroutines{service="productpage"}`:                                                   90,
			`dependency_attempt_duration_seconds_count{dependency="recommendations"}`:                200,
			`circuit_breaker_state_changes_total{dependency="recommendations",to_state="half_open"}`: 0,
			`circuit_breaker_state_changes_total{dependency="recommendations",to_state="closed"}`:    float64(i / 41),
			`dependency_call_duration_seconds_bucket{dependency="pricing",le="0.02"}`:                float64(20 * i),
			`dependency_call_duration_seconds_bucket{dependency="pricing",le="0.2"}`:                 float64(20 * i),
			`dependency_call_duration_seconds_bucket{dependency="pricing",le="+Inf"}`:                float64(20 * i),
			`dependency_call_duration_seconds_bucket{dependency="inventory",le="0.02"}`:              float64(20 * i),
			`dependency_call_duration_seconds_bucket{dependency="inventory",le="0.2"}`:               float64(20 * i),
			`dependency_call_duration_seconds_bucket{dependency="inventory",le="+Inf"}`:              float64(20 * i),
		}})
	}
	return r
}
