package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// grafana is the part of Grafana's format that we use; decoding is strict, so a misspelled field is found.
type grafana struct {
	UID, Title              string
	Tags                    []string
	SchemaVersion, Version  int
	GraphTooltip            int
	Editable                bool
	Refresh, Timezone       string
	Time, Templating, Links any
	Annotations             struct {
		List []struct {
			Name, Expr, Step, TitleFormat, IconColor string
			Enable                                   bool
			Datasource                               any
		}
	}
	Panels []grafanaPanel
}

type grafanaPanel struct {
	ID                                       int
	Type, Title, Description                 string
	Collapsed                                bool
	Panels, Options, Datasource, FieldConfig any
	GridPos                                  struct{ X, Y, W, H int }
	Targets                                  []struct {
		RefID, Expr, LegendFormat string
		Instant, Range, Exemplar  bool
		Datasource                struct{ Type, UID string }
	}
}

func dashboards(t *testing.T) map[string]grafana {
	t.Helper()
	files, err := dashboardFiles()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]grafana{}
	for name, text := range files {
		var d grafana
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if bytes.Contains([]byte(text), []byte(`vector(0)`)) {
			t.Errorf("%s: `or vector(0)` makes a dead exporter look healthy", name)
		}
		all[name] = d
	}
	return all
}

func TestPanelsHaveAPlaceOfTheirOwn(t *testing.T) {
	uids := map[string]string{}
	for name, d := range dashboards(t) {
		if other := uids[d.UID]; d.UID == "" || other != "" {
			t.Errorf("%s and %s have the uid %q", name, other, d.UID)
		}
		uids[d.UID] = name
		taken, ids := map[[2]int]string{}, map[int]bool{}
		for _, p := range d.Panels {
			if p.ID == 0 || ids[p.ID] || p.Title == "" {
				t.Errorf("%s: panel %q has id %d", name, p.Title, p.ID)
			}
			ids[p.ID] = true
			if !slices.Contains([]string{"row", "stat", "timeseries", "state-timeline"}, p.Type) {
				t.Errorf("%s: %s is of type %q, which may need a plugin", name, p.Title, p.Type)
			}
			if g := p.GridPos; g.X < 0 || g.W < 1 || g.H < 1 || g.X+g.W > columns {
				t.Errorf("%s: %s is outside of %d columns: %+v", name, p.Title, columns, g)
			}
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if other, ok := taken[[2]int{x, y}]; ok {
						t.Fatalf("%s: %s lies on %s", name, p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}

func TestPanelsAskForWhatIsThere(t *testing.T) {
	known := knownMetrics(t)
	variables := strings.NewReplacer("$__rate_interval", "10s", "$dependency", ".+")
	for name, d := range dashboards(t) {
		ask := func(title, expr string) {
			for _, problem := range problems(t, variables.Replace(expr), known) {
				t.Errorf("%s: %s: %s", name, title, problem)
			}
		}
		for _, p := range d.Panels {
			if p.Type != "row" && len(p.Targets) == 0 {
				t.Errorf("%s: %s asks nothing", name, p.Title)
			}
			for _, target := range p.Targets {
				ask(p.Title, target.Expr)
				if target.Datasource.UID != "prometheus" {
					t.Errorf("%s: %s asks %q", name, p.Title, target.Datasource.UID)
				}
			}
		}
		for _, a := range d.Annotations.List {
			ask(a.Name, a.Expr)
		}
	}
}
