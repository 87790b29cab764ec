//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/incident"
)

// judged fails when a promise of an incident was not measured, or not kept. A promise about time is excused as [fairly] has it; a failed
// page, an unmarked one, a probe too many or a naive page that does not collapse never is.
func judged(t testing.TB, report incident.Report) {
	t.Helper()
	keepReport(t, report)
	var table strings.Builder
	report.Print(&table)
	t.Log(table.String())
	for _, v := range append(report.Broken(), report.Unjudged()...) {
		fail := inexcusable
		if slices.Contains(aboutTime, v.ID) || v.Result() == incident.NotMeasured {
			fail = func(t testing.TB, format string, args ...any) { t.Helper(); t.Errorf(format, args...) }
		}
		fail(t, "%s: %s, measured %s; the naive page %s: %s", v.Promise, v.Bound, v.Protected, v.Naive, v.Result())
	}
}

// aboutTime are the promises that a pause of the machine can break: how long something takes, and the breakers and limits, which go by that.
var aboutTime = []string{"budget", "worst", "usual-time", "home", "order", "price", "stock", "recs", "hedged", "extra", "goroutines",
	"banner", "opens", "heals", "stays", "cut", "replica-opens", "fails-over", "replica-back", "stock-opens", "stock-back", "recs-opens", "recs-back", "slows"}

// keepReport keeps the page with the chart, and looks at it as somebody without a network does, at a desk and on a phone.
func keepReport(t testing.TB, report incident.Report) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(artifacts, "incident-"+report.Incident+".html"))
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err = report.WriteHTML(&page); err == nil {
		err = os.WriteFile(path, page.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.open("file://" + path)
	b.within(10*time.Second, fmt.Sprintf("document.title.includes(%q)", report.Title))
	b.within(time.Second, `performance.getEntriesByType("resource").length === 0`)
	b.fits(phone)
	b.shoot("incident-" + report.Incident + "-phone")
	b.fits(desktop)
	b.shoot("incident-" + report.Incident)
}

// sameProcesses fails when one of the containers was started since born, or has ended, out of memory for example.
func (s *Stack) sameProcesses(t testing.TB, born map[string]string) {
	t.Helper()
	for service, before := range born {
		if now := s.births(t, service)[service]; now != before {
			inexcusable(t, "%s is another process than before", service)
		}
	}
}
