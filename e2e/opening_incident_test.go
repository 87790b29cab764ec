//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/incident"
)

// TestTheOpeningIncident is article 1's: the database of recommendations, an optional part of the page, answers 4.8 s late. The
// same visitors come to the protected page and to its naive twin. The incident judges every promise itself (demo/incident); here
// all of them must have been measured and kept, the one that the naive page collapses among them. What it does not judge is
// added: somebody buys in the middle of it, the breaker asks no more often than agreed, and no process was replaced meanwhile, of the naive twin neither: what
// it hangs on to must not have cost Toxiproxy or a service its memory.
func TestTheOpeningIncident(t *testing.T) {
	fairly(t, func(t testing.TB) {
		s := stack(t)
		s.WaitReady(t, "productpage-naive")
		born := s.births(t, append([]string{"productpage-naive", "recommendations-naive", "inventory-naive", "toxiproxy", "janitor"}, services...)...)
		judged(t, s.openingIncident(t))
		s.sameProcesses(t, born)
	})
}

func (s *Stack) openingIncident(t testing.TB) incident.Report {
	t.Helper()
	// 15 s for the usual time and 30 s for the healing: the busy second in which the naive twin works off what it has queued up
	// must stay well below one page in twenty.
	story := incident.Opening(incident.Times{Baseline: 15 * time.Second, Fault: 30 * time.Second, Recovery: 30 * time.Second},
		"recommendations-postgres")
	cfg := incident.Config{
		Protected: incident.Twin{Target: s.URL("productpage"), Internal: s.Internal("productpage")},
		Naive:     &incident.Twin{Target: s.URL("productpage-naive"), Internal: s.Internal("productpage-naive")},
		Rate:      25, Toxiproxy: s.API(), OpenFor: openFor, Terminal: os.Stdout,
	}
	var report incident.Report
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		report, err = incident.Run(t.Context(), story, cfg)
	}()
	s.meanwhile(t)
	<-over
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// meanwhile is what happens in the middle of the fault.
func (s *Stack) meanwhile(t testing.TB) {
	client := faults.NewClient(s.API(), nil)
	eventuallyIn(t, 30*time.Second, "the fault is set", func() bool {
		active, err := client.Active(t.Context())
		return err == nil && len(active) > 0
	})
	time.Sleep(openWithin + time.Second) // the breaker is open, and what was under way when it opened has ended

	tries, began := s.sum(t, "productpage", "dependency_attempt_duration_seconds_count", `dependency="recommendations"`), time.Now()
	for range 3 {
		// While the naive twin fights for the same cores a price may come too late once: the form then says so, and a customer reloads.
		eventuallyIn(t, 4*time.Second, "the checkout has a button", func() bool {
			return strings.Contains(newVisitor(t, s.URL("productpage")).get("/checkout?sku=1201&qty=1").body, `name="quote"`)
		})
		pressed := time.Now()
		buy(t, newVisitor(t, s.URL("productpage")), 1201)
		if took := time.Since(pressed); took > 4*time.Second { // the checkout's budget, and in it the way to the button
			t.Errorf("buying took %s while recommendations were slow", took)
		}
		time.Sleep(3 * time.Second)
	}
	tried := s.sum(t, "productpage", "dependency_attempt_duration_seconds_count", `dependency="recommendations"`) - tries
	// One probe per open period, which is jittered down by at most 20 %, and one period that had begun before.
	agreed := 1 + time.Since(began).Seconds()/(0.8*openFor.Seconds())
	t.Logf("%.0f probes in %s", tried, time.Since(began).Round(time.Second))
	if tried < 1 || tried > agreed {
		t.Errorf("the page asked recommendations %.0f times in %s with its breaker open, want 1 to %.0f", tried, time.Since(began), agreed)
	}
}
