package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

// TestTilesTurnRed: a tile that is green whatever it shows looks like a shop without trouble.
func TestTilesTurnRed(t *testing.T) {
	for _, p := range glance().rows[0].panels {
		if p.limit == 0 {
			t.Errorf("%s is green whatever it shows", p.title)
		}
	}
	for _, tt := range []struct {
		panel panel
		want  string
	}{
		{stat("failed", 3, "percentunit", 0.001, "", "x"), `[{"color":"green","value":null},{"color":"red","value":0.001}]`},
		{statAtLeast("whole", 3, "percentunit", 0.95, "", "x"), `[{"color":"red","value":null},{"color":"green","value":0.95}]`},
		{stat("no limit", 3, "short", 0, "", "x"), `[{"color":"green","value":null}]`},
	} {
		if got, err := json.Marshal(tt.panel.thresholds()["steps"]); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s (%v), want %s", tt.panel.title, got, err, tt.want)
		}
	}
}

// TestSharesAreOfTheSameRoutes: what is divided by the pages of a customer has to be counted of the same ones, or probes and
// pictures make a share of it that is none.
func TestSharesAreOfTheSameRoutes(t *testing.T) {
	const requests = "http_server_request_duration_seconds_count"
	variables, shares := strings.NewReplacer("$__rate_interval", "10s", "$dependency", ".+"), 0
	for name, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				var routes []string
				for _, s := range selectors(t, variables.Replace(target.Expr)) {
					if s.name == requests {
						routes = append(routes, s.label("route"))
					}
				}
				if len(routes) > 1 {
					shares++
				}
				slices.Sort(routes)
				if routes = slices.Compact(routes); len(routes) > 1 {
					t.Errorf("%s: %s mixes the routes %q", name, p.Title, routes)
				}
			}
		}
	}
	if shares == 0 {
		t.Error("no share of requests was found")
	}
}

// label is how a query narrows one label down, "" when it does not.
func (s selector) label(name string) string {
	i := slices.IndexFunc(s.matchers, func(m *labels.Matcher) bool { return m.Name == name })
	if i < 0 {
		return ""
	}
	return s.matchers[i].String()
}
