package service

import (
	"strings"
	"testing"
	"time"
)

func TestHelpListsEveryKnob(t *testing.T) {
	cfg := &shopConfig{Base: Base{RequestTimeout: 5 * time.Second}}
	var out strings.Builder
	if err := Run(t.Context(), []string{"shop", "-h"}, environment("SLOTS", "nonsense"), &out, Program{Name: "shop", Summary: "sells things", Config: cfg}); err != nil {
		t.Fatal(err)
	}
	help := out.String()
	columns := -1
	for _, k := range knobsOf(cfg) {
		if k.help == "" {
			t.Errorf("%s has no sentence", k.key)
		}
		line := grep(help, "  "+k.key+" ")
		if !strings.Contains(line, k.help) || !strings.Contains(line, k.unit) {
			t.Errorf("%s: %q", k.key, line)
		}
		if at := strings.Index(line, k.help); columns >= 0 && at != columns {
			t.Errorf("%s: sentence at column %d, others at %d", k.key, at, columns)
		} else {
			columns = at
		}
	}
	for key, value := range map[string]string{"REQUEST_TIMEOUT": "5s", "PRICING_OPEN_FOR": "30s", "PRICING_URL": "http://u:xxxxx@localhost"} {
		if !strings.Contains(grep(help, key), " "+value+" ") {
			t.Errorf("%s: default %s is not shown: %q", key, value, grep(help, key))
		}
	}
	if t.Failed() {
		t.Log(help)
	}
}
