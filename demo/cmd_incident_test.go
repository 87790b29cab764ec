package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/incident"
)

func TestABrokenPromiseIsAnError(t *testing.T) {
	kept := incident.Verdict{ID: "heals", Protected: incident.Finding{Result: incident.Pass}, Naive: incident.Finding{Result: incident.Fail}}
	stands := incident.Verdict{ID: "collapses", ByNaive: true, Naive: incident.Finding{Result: incident.Fail}}
	unseen := incident.Verdict{ID: "opens", Protected: incident.Finding{Result: incident.NotMeasured}}
	for _, c := range []struct {
		report incident.Report
		want   string
	}{
		{incident.Report{Verdicts: []incident.Verdict{kept, unseen}}, ""},
		{incident.Report{Verdicts: []incident.Verdict{kept, stands}}, "1 of 2 promises broken"},
		{incident.Report{Verdicts: []incident.Verdict{kept, unseen}, Stopped: true}, "stopped early"},
	} {
		if err := shortcoming(c.report); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.report, err, c.want)
		}
	}
}

func TestReportIsTwoFiles(t *testing.T) {
	dir := t.TempDir() + "/new"
	if err := writable(dir); err != nil {
		t.Fatal(err)
	}
	path, err := save(incident.Report{Incident: "opening", Title: "The opening incident", Began: time.Now()}, dir)
	if err != nil || path != dir+"/incident-opening.html" {
		t.Fatal(path, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 || files[0].Name() != "incident-opening.html" || files[1].Name() != "incident-opening.json" {
		t.Error(files, err)
	}
	if page, err := os.ReadFile(path); err != nil || !strings.Contains(string(page), "<h1>The opening incident</h1>") {
		t.Errorf("%v\n%s", err, page)
	}
}

func TestOnlyShopForgetsTheTwin(t *testing.T) {
	opt, err := parseIncident(environment{func(string) string { return "" }, io.Discard}, []string{"opening", "-only-shop", "-naive", "http://naive"})
	if err != nil || opt.Naive != nil || opt.name != "opening" || opt.Toxiproxy != "http://127.0.0.1:8474" {
		t.Errorf("%+v, %v", opt, err)
	}
}
