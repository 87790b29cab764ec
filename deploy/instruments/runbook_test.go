package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunbooksAskForWhatIsThere reads the queries of every runbook as Prometheus would. Somebody who is woken up copies them.
func TestRunbooksAskForWhatIsThere(t *testing.T) {
	runbooks, err := filepath.Glob("../../docs/runbooks/*.md")
	if err != nil {
		t.Fatal(err)
	}
	known, queries := knownMetrics(t), 0
	for _, path := range runbooks {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range fenced(string(text)) {
			if strings.HasPrefix(line, "deploy/") || strings.HasPrefix(line, "make ") || strings.HasPrefix(line, " ") {
				continue // a command, which the end-to-end tests run
			}
			queries++
			query, _, _ := strings.Cut(line, "   ") // what follows says what to look for
			for _, problem := range problems(t, query, known) {
				t.Errorf("%s: %s: %s", filepath.Base(path), query, problem)
			}
		}
	}
	if queries < 20 {
		t.Errorf("only %d queries were found in %d runbooks", queries, len(runbooks))
	}
}

// fenced gives the lines between lines of three backticks.
func fenced(text string) (lines []string) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case inside && line != "":
			lines = append(lines, line)
		}
	}
	return lines
}
