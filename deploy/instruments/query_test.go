package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// knownMetrics reads metrics.txt.
func knownMetrics(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			known[fields[0]] = append(fields[1:], "service", "instance", "job")
		}
	}
	known["up"] = []string{"instance", "job"}
	known["scrape_samples_scraped"] = known["up"]
	known["ALERTS"] = []string{"alertname", "alertstate", "severity", "service", "dependency", "instance", "job"}
	return known
}

// problems says what is wrong with a query although it parses: an unknown metric or label, also in by () and on (), where Prometheus
// takes it for an empty one and says nothing; a counter outside of a rate, a rate of a gauge, an edge of a histogram that the two formats of a scrape write differently ("1" and "1.0").
func problems(t *testing.T, query string, known map[string][]string) (bad []string) {
	t.Helper()
	for _, s := range selectors(t, query) {
		names, ok := known[s.name]
		if !ok {
			bad = append(bad, fmt.Sprintf("no service has the metric %s", s.name))
			continue
		}
		for _, m := range s.matchers {
			if m.Name != "__name__" && !slices.Contains(names, m.Name) {
				bad = append(bad, fmt.Sprintf("%s has no label %s", s.name, m.Name))
			}
			if m.Name == "le" && !strings.ContainsAny(m.Value, ".I") {
				bad = append(bad, fmt.Sprintf("le=%q is written in another way in OpenMetrics", m.Value))
			}
		}
		for _, label := range s.groupedBy() {
			if !slices.Contains(names, label) {
				bad = append(bad, fmt.Sprintf("%s has no label %s", s.name, label))
			}
		}
		if counter, rated := isCounter(s.name), s.inside("rate", "increase", "irate"); counter != rated && !s.inside("absent") {
			bad = append(bad, fmt.Sprintf("%s: a counter is read by a rate, and nothing else is", s.name))
		}
	}
	return bad
}

func isCounter(name string) bool {
	for _, suffix := range []string{"_total", "_bucket", "_count", "_sum"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// levelOf gives the labels that the name of a recorded series promises: level:metric:operation.
func levelOf(record string) []string {
	level, _, _ := strings.Cut(record, ":")
	return strings.Split(level, "_")
}

func TestRulesAskForWhatIsThere(t *testing.T) {
	for _, file := range []string{productionRules, demoRules} {
		known := knownMetrics(t)
		for _, r := range rulesOf(t, file) {
			for _, problem := range problems(t, r.Expr, known) {
				t.Errorf("%s: %s%s: %s", file, r.Alert, r.Record, problem)
			}
			if r.Record != "" {
				known[r.Record] = levelOf(r.Record)
			}
		}
	}
}

func TestProblemsAreFound(t *testing.T) {
	known := map[string][]string{"a_total": {"x"}, "g": {"x"}, "h_bucket": {"le"}}
	for query, want := range map[string]string{
		`rate(b_total[1m])`:                         "no service has the metric b_total",
		`rate(a_total{y="1"}[1m])`:                  "a_total has no label y",
		`a_total`:                                   "a counter is read by a rate",
		`rate(g[1m])`:                               "a counter is read by a rate",
		`rate(h_bucket{le="1"}[1m])`:                `le="1" is written in another way`,
		`rate(h_bucket{le="0.5"}[1m])`:              "",
		`g{x="1"}`:                                  "",
		`absent(a_total)`:                           "",
		`sum by (x) (rate(a_total[1m])) / on (x) g`: "",
		`sum by (x, y) (rate(a_total[1m]))`:         "a_total has no label y",
		`max without (y) (g)`:                       "g has no label y",
		`g / on (y) sum by (x) (g)`:                 "g has no label y",
		`g unless ignoring (y) g`:                   "g has no label y",
	} {
		if got := strings.Join(problems(t, query, known), "; "); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
