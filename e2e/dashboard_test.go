//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// TestEveryPanelShowsData asks the real Prometheus every question the dashboards ask it, in the middle of an incident. A panel
// without data looks like a shop without trouble, and a renamed metric is all it takes. About a minute, which the alerts need.
func TestEveryPanelShowsData(t *testing.T) {
	s := stack(t)
	s.WaitReady(t, "productpage-naive")
	protected, naive := browse(t, s.URL("productpage"), 10), browse(t, s.URL("productpage-naive"), 5)
	defer protected.stop()
	defer naive.stop()
	s.Break(t, faults.Fault{Kind: "latency", Latency: 4800 * time.Millisecond}, "recommendations-postgres")
	files, err := filepath.Glob("../deploy/grafana/dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	variables := strings.NewReplacer("$__rate_interval", "30s", "$dependency", "recommendations")
	for _, file := range files {
		for _, panel := range panelsOf(t, file) {
			for _, target := range panel.Targets {
				eventuallyIn(t, time.Minute, panel.Title+" shows data: "+target.Expr, func() bool {
					return s.queryHasData(t, variables.Replace(target.Expr))
				})
			}
		}
	}
}

type dashboardPanel struct {
	Title   string
	Targets []struct{ Expr string }
}

func panelsOf(t testing.TB, file string) []dashboardPanel {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct{ Panels []dashboardPanel }
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return dashboard.Panels
}

// queryHasData fails the test when Prometheus does not understand the query. Series of which each value is NaN draw nothing: a
// quantile of a histogram without samples is one.
func (s *Stack) queryHasData(t testing.TB, query string) bool {
	t.Helper()
	return slices.ContainsFunc(s.query(t, query), func(series string) bool { return !strings.HasSuffix(series, " = NaN") })
}
