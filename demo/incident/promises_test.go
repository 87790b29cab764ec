package incident

import (
	"slices"
	"testing"
	"time"

	"watertight.example/demo/load"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func second(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

// kept is the record of an incident in which everything was as promised: fault from second 10 to 40, the breaker open
// from second 10.6, full pages from second 41 on.
func kept() record {
	r := record{
		began:  start,
		phases: []phase{{baseline, second(0), second(10)}, {fault, second(10), second(40)}, {recovery, second(40), second(85)}},
		broken: second(10.01), mended: second(40.02), openFor: 30 * time.Second,
		protected: new(seen), naive: new(seen),
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
		r.protected.readings = append(r.protected.readings, one)
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

func judged(r record, result Result) (list []string) {
	for _, v := range judgeOpening(r) {
		if v.Result() == result {
			list = append(list, v.ID)
		}
	}
	return list
}

func TestEverythingKept(t *testing.T) {
	for _, v := range judgeOpening(kept()) {
		if v.Result() != Pass {
			t.Errorf("%s: %+v", v.ID, v)
		}
	}
}

// change alters what of kind was asked for from one second to another.
func (s samples) change(kind load.Kind, from, to float64, alter func(n int, one *load.Sample)) {
	n := 0
	for i := range s {
		if s[i].Kind == kind && !s[i].At.Before(second(from)) && s[i].At.Before(second(to)) {
			alter(n, &s[i])
			n++
		}
	}
}

func (s *seen) series(name string, from float64, value func(old float64) float64) {
	for _, one := range s.scrapes {
		if !one.At.Before(second(from)) {
			one.series[name] = value(one.series[name])
		}
	}
}

func slow(d time.Duration) func(int, *load.Sample) {
	return func(_ int, one *load.Sample) { one.Latency = d }
}

func fail(_ int, one *load.Sample) { one.Class, one.Status, one.Parts = load.Failed, 503, nil }

// Each promise is broken once, by as little as breaks it; what breaks along with it is named.
func TestEachPromiseCanBeBroken(t *testing.T) {
	first := func(most int, alter func(int, *load.Sample)) func(int, *load.Sample) {
		return func(n int, one *load.Sample) {
			if n < most {
				alter(n, one)
			}
		}
	}
	const attempts, half = `dependency_attempt_duration_seconds_count{dependency="recommendations"}`,
		`circuit_breaker_state_changes_total{dependency="recommendations",to_state="half_open"}`
	for _, c := range []struct {
		name  string
		spoil func(*record)
		want  []string
	}{
		{"one failed page", func(r *record) { r.protected.change(load.Product, 50, 51, first(1, fail)) }, []string{"no-errors", "stays"}},
		{"3 of 600 a little late", func(r *record) { r.protected.change(load.Product, 10, 11, first(3, slow(551*time.Millisecond))) }, nil},
		{"4 of 600 a little late", func(r *record) { r.protected.change(load.Product, 10, 11, first(4, slow(551*time.Millisecond))) }, []string{"budget"}},
		{"one very late", func(r *record) { r.protected.change(load.Product, 41, 42, first(1, slow(1001*time.Millisecond))) }, []string{"worst"}},
		{"all slower", func(r *record) { r.protected.change(load.Product, 12, 40, slow(61*time.Millisecond)) }, []string{"usual-time"}},
		{"slower before the breaker opens", func(r *record) { r.protected.change(load.Product, 10, 10.6, slow(120*time.Millisecond)) }, nil},
		{"one hides what it lacks", func(r *record) {
			r.protected.change(load.Product, 20, 21, first(1, func(_ int, one *load.Sample) { one.Class, one.Parts = load.Full, nil }))
		}, []string{"marked"}},
		{"one full page by a probe at the mend", func(r *record) {
			r.protected.change(load.Product, 39.97, 40, func(_ int, one *load.Sample) { one.Class, one.Parts = load.Full, nil })
		}, nil},
		{"a slow home page", func(r *record) { r.protected.change(load.Browse, 10, 40, slow(61*time.Millisecond)) }, []string{"home"}},
		{"a slow order page", func(r *record) { r.protected.change(load.Order, 10, 40, slow(61*time.Millisecond)) }, []string{"order"}},
		{"an order page fails", func(r *record) { r.protected.change(load.Order, 10, 11, first(1, fail)) }, []string{"no-errors", "order"}},
		{"slow prices", func(r *record) { slowCalls(r, "pricing") }, []string{"price"}},
		{"slow stock", func(r *record) { slowCalls(r, "inventory") }, []string{"stock"}},
		{"opens late", func(r *record) { closedUntil(r, 12.1) }, []string{"opens"}},
		{"never opens", func(r *record) { closedUntil(r, 85) }, []string{"opens"}},
		{"overfull", func(r *record) { r.protected.readings[80].InFlight = 51 }, []string{"bulkhead"}},
		{"goroutines pile up", func(r *record) {
			r.protected.series(`go_goroutines{service="productpage"}`, 30, func(float64) float64 { return 181 })
		}, []string{"goroutines"}},
		{"a stray probe", func(r *record) {
			r.protected.series(attempts, 20, func(n float64) float64 { return n + 2 })
			r.protected.series(half, 20, func(n float64) float64 { return n + 1 })
		}, []string{"probes"}},
		{"heals late", func(r *record) {
			r.openFor = 3 * time.Second
			r.protected.change(load.Product, 40, 46, func(_ int, one *load.Sample) { one.Class = load.Degraded })
		}, []string{"heals"}},
		{"never heals", func(r *record) {
			r.protected.change(load.Product, 40, 85, func(n int, one *load.Sample) { one.Class = load.Class(n / 10 % 2) })
		}, []string{"heals"}},
		{"collapses again", func(r *record) { r.protected.change(load.Product, 50, 60, slow(61*time.Millisecond)) }, []string{"stays"}},
		{"loses its list again", func(r *record) {
			r.protected.change(load.Product, 50, 51, func(_ int, one *load.Sample) { one.Class = load.Degraded })
		}, []string{"stays"}},
		{"the naive page stands", func(r *record) { r.naive.change(load.Product, 10, 40, slow(2*time.Second)) }, []string{"collapses"}},
		{"the naive page fails fast", func(r *record) {
			r.naive.change(load.Product, 10, 40, func(n int, one *load.Sample) {
				one.Latency = time.Second
				if n%4 == 0 {
					one.Class = load.Failed
				}
			})
		}, nil},
		{"the naive home page stands", func(r *record) { r.naive.change(load.Browse, 10, 40, slow(60*time.Millisecond)) }, []string{"takes-along"}},
		{"the naive order page stands", func(r *record) { r.naive.change(load.Order, 10, 40, slow(60*time.Millisecond)) }, []string{"takes-along"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := kept()
			c.spoil(&r)
			if got := judged(r, Fail); !slices.Equal(got, c.want) {
				t.Errorf("broken %v, want %v", got, c.want)
			}
		})
	}
}

// slowCalls lets a tenth of the calls since the fault take 200 ms.
func slowCalls(r *record, dependency string) {
	r.protected.series(`dependency_call_duration_seconds_bucket{dependency="`+dependency+`",le="0.02"}`, 10,
		func(n float64) float64 { return n - (n-200)/10 })
}

func closedUntil(r *record, until float64) {
	for i := range r.protected.readings {
		if r.protected.readings[i].At.Before(second(until)) {
			r.protected.readings[i].Breaker = "closed"
		}
	}
}

func TestStoppedTooEarlyIsNoFailure(t *testing.T) {
	r := kept()
	r.stopped, r.mended = true, second(12)
	r.phases = []phase{{baseline, second(0), second(10)}, {fault, second(10), second(12)}}
	r.protected.samples, r.naive.samples = r.protected.samples.sent(second(0), second(12)), r.naive.samples.sent(second(0), second(10))
	if got := judged(r, Fail); got != nil {
		t.Errorf("broken: %v", got)
	}
	if got := judged(r, NotMeasured); !slices.Contains(got, "heals") || !slices.Contains(got, "collapses") {
		t.Errorf("not measured: %v", got)
	}
	r.protected.change(load.Product, 11, 12, fail)
	if got := judged(r, Fail); !slices.Contains(got, "no-errors") {
		t.Errorf("broken: %v, but a failed page is a failed page", got)
	}
}

func TestAFewAnswersProveNothing(t *testing.T) {
	r := kept()
	r.protected.change(load.Order, 10, 40, slow(61*time.Millisecond))
	r.protected.samples = r.protected.samples.sent(second(2.5), second(85)) // leaves 18 order pages in the baseline
	if got := judged(r, NotMeasured); !slices.Equal(got, []string{"home", "order"}) {
		t.Errorf("not measured: %v, broken: %v", got, judged(r, Fail))
	}
}

func TestNothingSeenIsNotMeasured(t *testing.T) {
	r := record{protected: new(seen), naive: new(seen)}
	if n := len(judged(r, NotMeasured)); n != 17 {
		t.Errorf("%d of 17 not measured, passed: %v, broken: %v", n, judged(r, Pass), judged(r, Fail))
	}
}

func TestQuantileIsTheNearestRank(t *testing.T) {
	var s samples
	for i := range 100 {
		s = append(s, load.Sample{Latency: time.Duration(100-i) * time.Millisecond})
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.95: 95, 1: 100} {
		if got := s.quantile(q); got != want*time.Millisecond {
			t.Errorf("quantile %v of 1 to 100 ms is %v", q, got)
		}
	}
	if s[:20].p95() != 99*time.Millisecond || samples(nil).p95() != 0 {
		t.Error(s[:20].p95())
	}
}

func TestRelativeBound(t *testing.T) {
	for base, want := range map[time.Duration]time.Duration{10: 35, 25: 50, 30: 60} {
		if got := relative(base * time.Millisecond); got != want*time.Millisecond {
			t.Errorf("%d ms: %v", base, got)
		}
	}
}

func TestHistogramP95LooksBetweenTwoScrapes(t *testing.T) {
	bucket := func(le string) string {
		return `dependency_call_duration_seconds_bucket{dependency="pricing",le="` + le + `"}`
	}
	from := scrape{series: map[string]float64{bucket("0.01"): 500, bucket("0.1"): 500, bucket("+Inf"): 500}}
	to := scrape{series: map[string]float64{bucket("0.01"): 590, bucket("0.1"): 600, bucket("+Inf"): 600}}
	if p95, calls := histogramP95(from, to, "pricing"); calls != 100 || p95 != 55*time.Millisecond {
		t.Errorf("p95 %v of %v calls, want half-way through the second bucket", p95, calls)
	}
	to.series[bucket("+Inf")] = 700
	if p95, _ := histogramP95(from, to, "pricing"); p95 != 100*time.Millisecond {
		t.Errorf("p95 %v, want the last bound", p95)
	}
	if _, calls := histogramP95(from, to, "inventory"); calls != 0 {
		t.Error("calls to another dependency were counted")
	}
}
