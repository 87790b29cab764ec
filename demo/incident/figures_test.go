package incident

import (
	"testing"
	"time"

	"watertight.example/demo/load"
)

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
