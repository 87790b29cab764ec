//go:build e2e

package e2e

import (
	"flag"
	"net/http"
	"slices"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 20*time.Second, "how long the steady load of TestSteadyLoad lasts; make soak uses 10m")

// TestServicesStartBeforeTheirStores starts everything in the wrong order: the
// services first, the stores 20 s later. Nobody helps; all must become ready.
func TestServicesStartBeforeTheirStores(t *testing.T) {
	s := stack(t)
	s.Stop(t, append(slices.Clone(services), stores...)...)
	s.Start(t, services...)
	time.Sleep(20 * time.Second)
	for _, service := range services {
		if got := s.Probe(service, "/healthz"); got != http.StatusOK {
			t.Errorf("%s: /healthz answers %d without its stores: the process is fine and must not be killed", service, got)
		}
		if got := s.Probe(service, "/readyz"); got != http.StatusServiceUnavailable {
			t.Errorf("%s: /readyz answers %d without its stores, want 503", service, got)
		}
	}
	s.Start(t, stores...)
	for _, service := range services {
		s.WaitReady(t, service)
	}
	eventually(t, "a whole page", func() bool {
		v := look(http.DefaultClient, s.URL("productpage")+"/products/42")
		return v.status == http.StatusOK && v.degraded == ""
	})
	s.replicaFollows(t) // pages do not wait for it, and its breaker would open in the next test
}

// TestSteadyLoad is the quiet hour: nothing is broken, so nothing may look broken.
func TestSteadyLoad(t *testing.T) { fairly(t, steadyLoad) }

func steadyLoad(t testing.TB) {
	s := stack(t)
	opened := s.breakerOpenings(t)
	memory := s.memory(t)
	b := browse(t, s.URL("productpage"), 25)
	time.Sleep(*soak)
	all := b.stop()
	all.noneFails(t)
	degraded := all.where(func(v visit) bool { return v.degraded != "" })
	unexcused := degraded.where(func(v visit) bool { return !v.excused() })
	t.Logf("%d pages in %s, %d degraded, of which %d while the machine stood still", len(all), *soak, len(degraded), len(degraded)-len(unexcused))
	// A pause too short to be noticed may still cost a few pages, which come at the same moment, a part.
	if len(unexcused) > 3+len(all)/1000 {
		t.Errorf("%d of %d pages degraded with no fault set: %v", len(unexcused), len(all), unexcused[:4])
	}
	if got := s.breakerOpenings(t); got != opened {
		t.Errorf("breakers opened %v times more with no fault set", got-opened)
	}
	if *soak >= time.Minute { // the short form may see the last of an alert that the test before was about
		s.neverFired(t, *soak, "")
	}
	if *soak >= 5*time.Minute {
		s.memoryIsFlat(t, memory)
	}
}
