package main

import (
	"fmt"
	"strings"
	"time"
)

// A scenario is an hour of some service, and what a set of rules should make of it: those of the article, which stay as they were
// printed (prometheus/tests/articles.yml), and ours.
type scenario struct {
	id, what string
	series   []series
	article  int           // how many of its alerts fire at the same time, at most; 0: it stays silent all the hour
	ours     int           // the same of ours
	by       time.Duration // when ours fires, counted from onset, at the latest
}

const (
	hour  = time.Hour
	step  = 15 * time.Second // between scrapes; rules are evaluated at every second one
	onset = 10 * time.Minute // when trouble begins, in those that have any
)

// series is one time series by a function of the time.
type series struct {
	name string
	at   func(t time.Duration) float64 // absent when there is no sample
}

// absent as a value: the process is not there, or its scrape failed.
const absent = -1

// notation writes the hour in promtool's language: 0x3 is 0 four times, _ is no sample. A series that ends is marked stale, as a
// scrape that fails marks it; without that a query would see its last value for five minutes more.
func (s series) notation() string {
	var parts []string
	last, run := s.at(0), 0
	flush := func() {
		switch {
		case last != absent:
			parts = append(parts, fmt.Sprintf("%gx%d", last, run-1))
		case len(parts) > 0 && run == 1:
			parts = append(parts, "stale")
		case len(parts) > 0:
			parts = append(parts, "stale", fmt.Sprintf("_x%d", run-1))
		default:
			parts = append(parts, fmt.Sprintf("_x%d", run))
		}
	}
	for t := time.Duration(0); t <= hour; t += step {
		if v := s.at(t); v != last {
			flush()
			last, run = v, 0
		}
		run++
	}
	flush()
	return strings.Join(parts, " ")
}

// scenarioTests returns the promtool tests by file name. The rules are where the stack's Prometheus has them. All scenarios are one
// test, each of them a service of its own: promtool evaluates every rule for every test, and 27 hours of them take minutes.
func scenarioTests() map[string]string {
	return map[string]string{
		"article.yml": promtoolTest("tests/articles.yml", func(s tried) string { return s.verdict(s.alerts.article, s.article) }),
		"ours.yml": promtoolTest("alerts/watertight.yml", func(s tried) string {
			verdict := s.verdict(s.alerts.ours, s.ours)
			if s.ours > 0 {
				verdict += s.firing(s.alerts.ours)
			}
			return verdict
		}),
	}
}

func promtoolTest(rules string, verdict func(tried) string) string {
	var input, verdicts strings.Builder
	for _, s := range scenarios() {
		fmt.Fprintf(&input, "      # %s: %s\n", s.id, s.what)
		for _, series := range s.series {
			fmt.Fprintf(&input, "      - { series: '%s', values: '%s' }\n", strings.Replace(series.name, "{", `{service="`+s.id+`",`, 1), series.notation())
		}
		verdicts.WriteString(verdict(s))
	}
	return fmt.Sprintf("rule_files: [/etc/prometheus/%s]\nevaluation_interval: 30s\ntests:\n  - interval: %s\n    input_series:\n%s    promql_expr_test:\n%s",
		rules, step, input.String(), verdicts.String())
}

// verdict looks at the whole hour: an alert that comes and goes counts. Without samples expected, it never fires.
func (s scenario) verdict(alert string, n int) string {
	test := fmt.Sprintf("      - expr: max_over_time(count(%s)[1h:30s])\n        eval_time: 1h\n", s.firingSeries(alert))
	if n > 0 {
		test += fmt.Sprintf("        exp_samples: [{ value: %d }]\n", n)
	}
	return test
}

func (s scenario) firing(alert string) string {
	return fmt.Sprintf("      - expr: count(%s)\n        eval_time: %s\n        exp_samples: [{ value: %d }]\n", s.firingSeries(alert), onset+s.by, s.ours)
}

func (s scenario) firingSeries(alert string) string {
	return fmt.Sprintf(`ALERTS{alertname="%s",alertstate="firing",service="%s"}`, alert, s.id)
}
