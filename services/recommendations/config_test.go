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
		"ROLL_IN_EVERY": "0s", "ROLL_IN_BATCH": "5000",
	}
	err := run(context.Background(), []string{"recommendations"}, func(k string) string { return env[k] }, io.Discard)
	if err == nil {
		t.Fatal("the service ran")
	}
	for _, knob := range []string{"POSTGRES_MAX_CONNS", "STATEMENT_TIMEOUT", "POSTGRES_OPEN_FOR", "ROLL_IN_EVERY", "ROLL_IN_BATCH"} {
		if !strings.Contains(err.Error(), knob) {
			t.Errorf("%s is not named in: %v", knob, err)
		}
	}
}
