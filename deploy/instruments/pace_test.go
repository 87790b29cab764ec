package main

import (
	"strings"
	"testing"
)

func TestDemoPaceDividesEveryDuration(t *testing.T) {
	fast, err := atDemoPace("# 5m\ngroups:\n- expr: a:ratio_rate5m > 0.5 and b[3d] # 0.75 s, code 5..\n  for: 30s\n  x: in 2m (1h)\n")
	if err != nil {
		t.Fatal(err)
	}
	want := demoHeader + "groups:\n- expr: a:ratio_rate30s > 0.5 and b[7h12m] # 0.75 s, code 5..\n  for: 3s\n  x: in 12s (6m)\n"
	if fast != want {
		t.Errorf("got\n%s\nwant\n%s", fast, want)
	}
}

func TestDemoPaceRefusesWhatItCannotDivide(t *testing.T) {
	if _, err := atDemoPace("\ngroups:\n  for: 15s\n"); err == nil || !strings.Contains(err.Error(), "15s") {
		t.Errorf("15s cannot be divided into whole seconds: %v", err)
	}
	if _, err := atDemoPace("rules: []"); err == nil {
		t.Error("a file without groups was taken")
	}
}
