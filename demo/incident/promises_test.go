package incident

import (
	"slices"
	"testing"
	"time"

	"watertight.example/demo/load"
	"watertight.example/demo/pulse"
)

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
	const count = `go_goroutines{service="productpage"}`
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
		{"7 of 1500 a little late, all after the mend", func(r *record) {
			r.protected.change(load.Product, 40, 41, first(7, slow(551*time.Millisecond)))
		}, nil},
		{"8 of 1500 a little late, all after the mend", func(r *record) {
			r.protected.change(load.Product, 40, 41, first(8, slow(551*time.Millisecond)))
		}, []string{"budget"}},
		{"one very late", func(r *record) { r.protected.change(load.Product, 41, 42, first(1, slow(1001*time.Millisecond))) }, []string{"worst"}},
		{"all slower", func(r *record) { r.protected.change(load.Product, 12, 40, slow(61*time.Millisecond)) }, []string{"usual-time"}},
		{"slower before the breaker opens", func(r *record) { r.protected.change(load.Product, 10, 10.6, slow(120*time.Millisecond)) }, nil},
		{"one hides what it lacks", func(r *record) {
			r.protected.change(load.Product, 20, 21, first(1, func(_ int, one *load.Sample) { one.Class, one.Parts = load.Full, nil }))
		}, []string{"marked"}},
		{"one full page by a probe at the mend", func(r *record) {
			r.protected.change(load.Product, 39.97, 40, func(_ int, one *load.Sample) { one.Class, one.Parts = load.Full, nil })
		}, nil},
		{"late at a time of pauses, but by more than they took", func(r *record) {
			r.protected.pauses = pulse.Pauses{{From: second(20.1), To: second(20.2)}}
			r.protected.change(load.Product, 20, 20.2, first(1, slow(1300*time.Millisecond)))
		}, []string{"worst"}},
		{"slow, late and lacking while the machine stood still", func(r *record) {
			r.protected.pauses = pulse.Pauses{{From: second(20), To: second(22)}, {From: second(50), To: second(51)}}
			r.protected.change(load.Product, 20, 22, slow(1100*time.Millisecond))
			r.protected.change(load.Browse, 20, 22, slow(1100*time.Millisecond))
			r.protected.change(load.Product, 50, 51, func(_ int, one *load.Sample) { one.Class = load.Degraded })
		}, nil},
		{"failed while the machine stood still", func(r *record) {
			r.protected.pauses = pulse.Pauses{{From: second(50), To: second(51)}}
			r.protected.change(load.Product, 50, 51, first(1, fail))
		}, []string{"no-errors", "stays"}},
		{"a slow home page", func(r *record) { r.protected.change(load.Browse, 10, 40, slow(61*time.Millisecond)) }, []string{"home"}},
		{"a slow order page", func(r *record) { r.protected.change(load.Order, 10, 40, slow(61*time.Millisecond)) }, []string{"order"}},
		{"an order page fails", func(r *record) { r.protected.change(load.Order, 10, 11, first(1, fail)) }, []string{"no-errors", "order"}},
		{"slow prices", func(r *record) { slowCalls(r, "pricing") }, []string{"price"}},
		{"slow stock", func(r *record) { slowCalls(r, "inventory") }, []string{"stock"}},
		{"opens late", func(r *record) { closedUntil(r, 12.1) }, []string{"opens"}},
		{"never opens", func(r *record) { closedUntil(r, 85) }, []string{"opens"}},
		{"as full as the limit was before it fell", func(r *record) {
			r.protected.readings[optional][80].InFlight = 50
			for i := range r.protected.readings[optional][80:] {
				r.protected.readings[optional][80+i].Limit = 25
			}
		}, nil},
		{"those let in under the old limit leave one by one", func(r *record) {
			for i := range r.protected.readings[optional][80:] {
				r.protected.readings[optional][80+i].Limit, r.protected.readings[optional][80+i].InFlight = 25, max(50-i, 2)
			}
		}, nil},
		{"fuller than the limit after it fell", func(r *record) {
			r.protected.readings[optional][81].InFlight = 26
			for i := range r.protected.readings[optional][80:] {
				r.protected.readings[optional][80+i].Limit = 25
			}
		}, []string{"bulkhead"}},
		{"overfull", func(r *record) { r.protected.readings[optional][80].InFlight = 51 }, []string{"bulkhead"}},
		{"goroutines pile up", func(r *record) {
			r.protected.series(count, 24, func(float64) float64 { return 141 })
		}, []string{"goroutines"}},
		{"as many goroutines for a moment as pages may be in flight", func(r *record) { r.protected.scrapes[11].series[count] = 90 + 12*25*0.55 }, nil},
		{"more goroutines for a moment", func(r *record) { r.protected.scrapes[11].series[count] = 90 + 12*25*0.55 + 1 }, []string{"goroutines"}},
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
	for i := range r.protected.readings[optional] {
		if r.protected.readings[optional][i].At.Before(second(until)) {
			r.protected.readings[optional][i].Breaker = "closed"
		}
	}
}

func TestStoppedTooEarlyIsNoFailure(t *testing.T) {
	r := kept()
	r.stopped, r.mended = true, second(12)
	r.phases = []phase{calmly(baseline, 0, 10), sick(fault, 10, 12)}
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
