package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

// Every wrong knob is named at once, and nothing is started.
func TestConfigReportsEveryProblem(t *testing.T) {
	env := map[string]string{
		"POSTGRES_MAX_CONNS": "1", "STATEMENT_TIMEOUT": "3s", "POSTGRES_OPEN_FOR": "0s",
		"QUOTE_TTL": "2h", "QUOTE_KEEP": "1h", "PURGE_EVERY": "-1s",
	}
	err := run(context.Background(), []string{"pricing"}, func(k string) string { return env[k] }, io.Discard)
	if err == nil {
		t.Fatal("the service ran")
	}
	for _, knob := range []string{"POSTGRES_MAX_CONNS", "STATEMENT_TIMEOUT", "POSTGRES_OPEN_FOR", "QUOTE_KEEP", "PURGE_EVERY"} {
		if !strings.Contains(err.Error(), knob) {
			t.Errorf("%s is not named in: %v", knob, err)
		}
	}
}
