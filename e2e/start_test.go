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
}

// TestSteadyLoad is the quiet hour: nothing is broken, so nothing may look broken.
func TestSteadyLoad(t *testing.T) {
	s := stack(t)
	opened := s.breakerOpenings(t)
	memory := s.memory(t)
	stop := browse(t, s.URL("productpage"), 25).stop
	time.Sleep(*soak)
	visits := stop()
	bad, degraded := 0, 0
	for _, v := range visits {
		if v.err != nil || v.status != http.StatusOK {
			bad++
			t.Logf("%s: %d %v", v.at.Format("15:04:05.000"), v.status, v.err)
		}
		if v.degraded != "" {
			degraded++
		}
	}
	t.Logf("%d pages in %s, %d failed, %d degraded", len(visits), *soak, bad, degraded)
	if bad > 0 {
		t.Errorf("%d of %d pages failed with no fault set", bad, len(visits))
	}
	// This machine is shared: a pause of its own may cost a few pages, which come at the same moment, a part.
	if degraded > 3+len(visits)/1000 {
		t.Errorf("%d of %d pages degraded with no fault set", degraded, len(visits))
	}
	if got := s.breakerOpenings(t); got != opened {
		t.Errorf("breakers opened %v times more with no fault set", got-opened)
	}
	if *soak >= 5*time.Minute {
		s.memoryIsFlat(t, memory)
	}
}
