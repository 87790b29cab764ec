package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

type rule struct {
	Record, Alert, Expr, For string
	KeepFiringFor            string `yaml:"keep_firing_for"`
	Labels, Annotations      map[string]string
}

func rulesOf(t *testing.T, file string) (all []rule) {
	t.Helper()
	data, err := os.Open(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	var groups struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	decoder := yaml.NewDecoder(data)
	decoder.KnownFields(true)
	if err := decoder.Decode(&groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func alertsOf(t *testing.T) (alerts []rule) {
	for _, r := range rulesOf(t, productionRules) {
		if r.Alert != "" {
			alerts = append(alerts, r)
		}
	}
	return alerts
}

func TestAlertsTellWhoReadsThem(t *testing.T) {
	for _, a := range alertsOf(t) {
		if a.Annotations["summary"] == "" || !strings.ContainsAny(a.Annotations["description"], "0123456789") {
			t.Errorf("%s needs a summary, and a description with the numbers", a.Alert)
		}
		if a.Labels["severity"] == "" {
			t.Errorf("%s has no severity", a.Alert)
		}
		if want := "docs/runbooks/" + a.Alert + ".md"; a.Annotations["runbook_url"] != want {
			t.Errorf("%s: its runbook is %q, want %q", a.Alert, a.Annotations["runbook_url"], want)
		}
	}
}

// TestEachAlertHasItsRunbook, and each runbook its alert, and what somebody who is woken up looks for.
func TestEachAlertHasItsRunbook(t *testing.T) {
	known := map[string]bool{}
	for _, a := range alertsOf(t) {
		known[a.Alert] = true
		text, err := os.ReadFile(filepath.Join("..", "..", a.Annotations["runbook_url"]))
		if err != nil {
			t.Errorf("%s: %v", a.Alert, err)
			continue
		}
		for _, heading := range []string{"# " + a.Alert + "\n", "\n## What it means\n", "\n## What to look at\n", "\n## What to do\n", "\n## Try it\n"} {
			if !strings.Contains(string(text), heading) {
				t.Errorf("the runbook of %s lacks %q", a.Alert, strings.TrimSpace(heading))
			}
		}
	}
	runbooks, err := filepath.Glob("../../docs/runbooks/*.md")
	if err != nil || len(runbooks) == 0 {
		t.Fatalf("no runbooks: %v", err)
	}
	for _, path := range runbooks {
		if name := strings.TrimSuffix(filepath.Base(path), ".md"); !known[name] && name != "README" {
			t.Errorf("%s is about no alert", path)
		}
	}
}

// TestRulesAreReadBeforeTheyAreUsed: a rule sees what an earlier one of its group has just recorded, of a later one only what it
// recorded the last time.
func TestRulesAreReadBeforeTheyAreUsed(t *testing.T) {
	recorded := map[string]bool{}
	for _, r := range rulesOf(t, productionRules) {
		for _, s := range selectors(t, r.Expr) {
			if strings.Contains(s.name, ":") && !recorded[s.name] {
				t.Errorf("%s%s reads %s, which is not recorded before it", r.Alert, r.Record, s.name)
			}
		}
		recorded[r.Record] = true
	}
}
