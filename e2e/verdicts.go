//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	"watertight.example/demo/incident"
)

// judged plays an incident, in which every promise must have been measured and kept.
//
// Some promises are about milliseconds. When one is broken and the machine has demonstrably stood still meanwhile, it says
// something about the machine, and the story is played again, at most twice; a promise that our code breaks is broken then, too.
func (s *Stack) judged(t *testing.T, play func() incident.Report) incident.Report {
	t.Helper()
	for try := 1; ; try++ {
		heart := takePulse()
		report := play()
		pause := heart.end()
		broken := append(report.Broken(), report.Unjudged()...)
		if len(broken) > 0 && onlyMilliseconds(broken) && pause > standstill && try < 3 {
			t.Logf("%s The machine stood still for %s: once more", report.Sentence(), pause)
			continue
		}
		var table strings.Builder
		report.Print(&table)
		t.Log(table.String())
		for _, v := range broken {
			t.Errorf("%s: %s, measured %s; the naive page %s: %s", v.Promise, v.Bound, v.Protected, v.Naive, v.Result())
		}
		return report
	}
}

// onlyMilliseconds: a failed page, an unmarked one, a probe too many or a naive page that does not collapse is never excused.
func onlyMilliseconds(broken []incident.Verdict) bool {
	for _, v := range broken {
		if !slices.Contains([]string{"budget", "worst", "usual-time", "home", "order", "price", "stock", "opens", "stays"}, v.ID) {
			return false
		}
	}
	return true
}

// sameProcesses fails when one of the containers was started since born, or has ended, out of memory for example.
func (s *Stack) sameProcesses(t testing.TB, born map[string]string) {
	t.Helper()
	for service, before := range born {
		if now := s.births(t, service)[service]; now != before {
			t.Errorf("%s is another process than before", service)
		}
	}
}
