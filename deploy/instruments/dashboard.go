package main

import (
	"encoding/json"
	"fmt"
)

// dashboard is what people write; render makes Grafana's JSON of it. Panels flow from left to right and wrap at 24 columns, so nobody
// counts coordinates.
type dashboard struct {
	uid, title string
	variables  []variable
	rows       []row
}

// variable is a choice at the top of the dashboard, of the values of a label.
type variable struct{ name, label, query string }

type row struct {
	title  string
	height int
	panels []panel
}

type panel struct {
	title   string
	kind    string // stat, timeseries or state-timeline
	width   int    // of 24 columns
	unit    string
	what    string  // the question it answers
	limit   float64 // a line in a chart, or where a tile turns red; 0: none
	atLeast bool    // the limit is one from below: a tile is red under it
	queries []query
}

type query struct{ legend, expr string }

const columns = 24

type object = map[string]any

// prometheusSource is the provisioned data source; its uid is fixed, see grafana/provisioning.
var prometheusSource = object{"type": "prometheus", "uid": "prometheus"}

func (d dashboard) render() (string, error) {
	var panels, variables []object
	y := 0
	for _, r := range d.rows {
		panels = append(panels, object{"id": len(panels) + 1, "type": "row", "title": r.title, "collapsed": false, "panels": []object{},
			"gridPos": object{"x": 0, "y": y, "w": columns, "h": 1}})
		y++
		x := 0
		for _, p := range r.panels {
			if x+p.width > columns {
				x, y = 0, y+r.height
			}
			panels = append(panels, p.render(len(panels)+1, object{"x": x, "y": y, "w": p.width, "h": r.height}))
			x += p.width
		}
		y += r.height
	}
	for _, v := range d.variables {
		variables = append(variables, object{"name": v.name, "label": v.label, "type": "query", "datasource": prometheusSource, "query": v.query,
			"definition": v.query, "refresh": 2, "includeAll": true, "allValue": ".+", "multi": false, "sort": 1,
			"current": object{"text": "All", "value": "$__all"}})
	}
	text, err := json.MarshalIndent(object{
		"uid": d.uid, "title": d.title, "tags": []string{"watertight"}, "schemaVersion": 39, "version": 1, "editable": false, "graphTooltip": 1,
		"refresh": "5s", "time": object{"from": "now-10m", "to": "now"}, "timezone": "browser",
		"templating": object{"list": variables}, "annotations": object{"list": incidents()}, "panels": panels,
		"links": []object{{"type": "dashboards", "title": "Watertight", "tags": []string{"watertight"}, "asDropdown": false, "keepTime": true, "includeVars": false}},
	}, "", "  ")
	return string(text) + "\n", err
}

// incidents are the lines across all charts. All come from Prometheus, so that they are also there when nobody told Grafana anything.
func incidents() []object {
	mark := func(name, color, expr, title string) object {
		return object{"name": name, "datasource": prometheusSource, "enable": true, "iconColor": color, "expr": expr, "step": "5s", "titleFormat": title}
	}
	return []object{
		mark("Fault", "purple", broken, "{{kind}} on {{target}}"),
		mark("Breaker opens", "red", openings, "{{service}} stops calling {{dependency}}"),
		mark("Alert", "orange", firing, "{{alertname}} {{service}} {{dependency}}"),
	}
}

const (
	broken   = `max by (kind, target) (chaos_fault_active) == 1`
	openings = `sum by (service, dependency) (increase(circuit_breaker_state_changes_total{to_state="open"}[10s])) > 0`
	firing   = `max by (alertname, service, dependency) (ALERTS{alertstate="firing"})`
)

func (p panel) render(id int, place object) object {
	var targets []object
	for i, q := range p.queries {
		targets = append(targets, object{"refId": string(rune('A' + i)), "datasource": prometheusSource, "expr": q.expr, "legendFormat": q.legend,
			"instant": p.kind == "stat", "range": p.kind != "stat", "exemplar": p.kind == "timeseries" && p.unit == "s"})
	}
	defaults := object{"unit": p.unit, "min": 0, "custom": object{}, "thresholds": p.thresholds()}
	options := object{}
	switch p.kind {
	case "stat":
		options = object{"colorMode": "background", "graphMode": "none", "reduceOptions": object{"calcs": []string{"lastNotNull"}}}
	case "state-timeline":
		options = object{"showValue": "never", "mergeValues": true}
		defaults["mappings"] = []object{{"type": "value", "options": object{
			"0": object{"text": "closed", "color": "green"}, "1": object{"text": "half-open", "color": "yellow"}, "2": object{"text": "open", "color": "red"}}}}
	case "timeseries":
		style := "off"
		if p.limit > 0 {
			style = "line"
		}
		defaults["custom"] = object{"fillOpacity": 10, "thresholdsStyle": object{"mode": style}}
		options = object{"legend": object{"displayMode": "list", "placement": "bottom", "showLegend": true}, "tooltip": object{"mode": "multi", "sort": "desc"}}
	}
	return object{"id": id, "type": p.kind, "title": p.title, "description": p.what, "gridPos": place, "datasource": prometheusSource,
		"targets": targets, "options": options, "fieldConfig": object{"defaults": defaults, "overrides": []object{}}}
}

func (p panel) thresholds() object {
	below, above := "green", "red"
	if p.atLeast {
		below, above = above, below
	}
	steps := []object{{"color": below, "value": nil}}
	if p.limit > 0 {
		steps = append(steps, object{"color": above, "value": p.limit})
	}
	return object{"mode": "absolute", "steps": steps}
}

func dashboardFiles() (map[string]string, error) {
	files := map[string]string{}
	for name, d := range map[string]dashboard{"watertight": glance(), "twins": twins(), "dependency": oneDependency()} {
		text, err := d.render()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.title, err)
		}
		files["grafana/dashboards/"+name+".json"] = text
	}
	return files, nil
}
