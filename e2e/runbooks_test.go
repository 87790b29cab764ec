//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRunbookCommands runs what the runbooks tell people to run, on this stack. At three in the morning nobody has the patience for a
// command that does not work. Their queries are read by a test of deploy/instruments.
func TestRunbookCommands(t *testing.T) {
	s := stack(t)
	runbooks, err := filepath.Glob("../docs/runbooks/*.md")
	if err != nil || len(runbooks) == 0 {
		t.Fatalf("no runbooks: %v", err)
	}
	defer func() { // nothing may stay as a command that failed, or the last one of a runbook, has left it
		s.heal(t)
		s.Mend(t)
		s.override(t, "recommendations", "breaker", `{"force":"release"}`)
		s.override(t, "recommendations", "limit", `{"limit":50}`)
		s.override(t, "pricing", "limit", `{"limit":100}`)
	}()
	tried := map[string]bool{} // many share one
	for _, path := range runbooks {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range commandsOf(string(text)) {
			if tried[command] || slices.ContainsFunc(notHere, func(head string) bool { return strings.HasPrefix(command, head) }) {
				continue
			}
			tried[command] = true
			began := time.Now()
			s.runCommand(t, filepath.Base(path), command)
			t.Logf("%4.1f s: %s", time.Since(began).Seconds(), command)
		}
	}
	if len(tried) < 15 {
		t.Errorf("only %d commands were found", len(tried))
	}
}

// commandsOf finds the commands of a page: the lines of its blocks and what stands in the text between backticks, if it begins like one.
// A line that ends with a backslash goes on in the next.
func commandsOf(page string) (commands []string) {
	page = strings.ReplaceAll(page, "\\\n", " ")
	begins := regexp.MustCompile("(?m)(?:^|`)((?:deploy/compose.sh|make|curl) [^`\n]+)")
	for _, found := range begins.FindAllStringSubmatch(page, -1) {
		commands = append(commands, found[1])
	}
	return commands
}

// notHere are commands that take longer than they would prove: the first two have tests of their own, and the last stops the whole shop.
var notHere = []string{"make bench", "make incident", "deploy/compose.sh stop"}

// endless are commands that a person ends; it is enough that they say something.
var endless = []string{"make logs"}

func (s *Stack) runCommand(t testing.TB, runbook, command string) {
	t.Helper()
	is := func(head string) bool { return strings.HasPrefix(command, head) }
	limit := 2 * time.Minute
	forEver := slices.ContainsFunc(endless, is)
	if forEver {
		limit = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if is("curl") { // it looks for what a page lacks
		s.override(t, "recommendations", "breaker", `{"force":"open"}`)
		defer s.override(t, "recommendations", "breaker", `{"force":"release"}`)
	}
	shell := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", strings.NewReplacer(
		"http://127.0.0.1:18080", s.URL("productpage"), "DURATION=1m", "DURATION=2s", "make break-recommendations", "make break-recommendations FOR=2s",
	).Replace(command))
	shell.Dir, shell.Env = "..", append(os.Environ(), "COMPOSE_PROJECT_NAME="+project)
	shell.WaitDelay = time.Second // for what make has started
	out, err := shell.CombinedOutput()
	if forEver && ctx.Err() != nil {
		err = nil
	}
	if err != nil || len(out) == 0 {
		t.Errorf("%s: %s: %v, and said %q", runbook, command, err, clip(string(out)))
	}
}
