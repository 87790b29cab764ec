package incident

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scrape is a page's own metrics at one moment: values by series, as /metrics writes them.
type scrape struct {
	At     time.Time
	series map[string]float64
}

// sum adds up all series of a metric that have every one of the labels, each like `to_state="open"`.
func (s scrape) sum(metric string, labels ...string) (total float64) {
	for name, value := range s.series {
		if base, _, _ := strings.Cut(name, "{"); base == metric && hasAll(name, labels) {
			total += value
		}
	}
	return total
}

func hasAll(series string, labels []string) bool {
	for _, l := range labels {
		if !strings.Contains(series, l) {
			return false
		}
	}
	return true
}

func (i *internal) scrape(ctx context.Context) error {
	s := scrape{time.Now(), make(map[string]float64)}
	err := i.get(ctx, "/metrics", func(body io.Reader) error {
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			line := lines.Text()
			cut := strings.LastIndexByte(line, ' ')
			if cut < 0 || !interesting(line) {
				continue
			}
			if value, err := strconv.ParseFloat(line[cut+1:], 64); err == nil {
				s.series[line[:cut]] = value
			}
		}
		return lines.Err()
	})
	if err == nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.scrapes = append(i.scrapes, s)
	}
	return err
}

// The metrics that promises are judged by.
const (
	goroutines  = "go_goroutines"
	callTimes   = "dependency_call_duration_seconds_bucket"
	attempts    = "dependency_attempt_duration_seconds_count"
	transitions = "circuit_breaker_state_changes_total"
	allCalls    = "dependency_calls_total"
	hedged      = "hedge_calls_total"
	retried     = "retry_attempts_total"
)

func interesting(line string) bool {
	for _, metric := range []string{goroutines, callTimes, attempts, transitions, allCalls, hedged, retried} {
		if strings.HasPrefix(line, metric) {
			return true
		}
	}
	return false
}

// histogramP95 estimates the 95th percentile, the way Prometheus does, of the calls to a dependency between two scrapes;
// calls says of how many, 0 means that there is nothing to estimate from.
func histogramP95(from, to scrape, dependency string) (p95 time.Duration, calls float64) {
	label := fmt.Sprintf("dependency=%q", dependency)
	buckets := make(map[float64]float64) // upper bound in seconds -> calls up to it
	for name, value := range to.series {
		base, _, _ := strings.Cut(name, "{")
		_, le, _ := strings.Cut(name, `le="`)
		le, _, _ = strings.Cut(le, `"`)
		if upper, err := strconv.ParseFloat(le, 64); err == nil && base == callTimes && strings.Contains(name, label) {
			buckets[upper] += value - from.series[name]
		}
	}
	calls = buckets[math.Inf(1)]
	return quantileOf(buckets, 0.95*calls), calls
}

// quantileOf finds the duration that rank calls did not exceed: in which bucket, and where in it if the calls are spread
// evenly. What lies above the last bound is taken for the bound.
func quantileOf(buckets map[float64]float64, rank float64) time.Duration {
	lower, below := 0.0, 0.0
	for _, upper := range slices.Sorted(maps.Keys(buckets)) {
		count := buckets[upper]
		if count >= rank && count > below && !math.IsInf(upper, 1) {
			return time.Duration((lower + (upper-lower)*(rank-below)/(count-below)) * float64(time.Second))
		}
		if !math.IsInf(upper, 1) {
			lower, below = upper, count
		}
	}
	return time.Duration(lower * float64(time.Second))
}
