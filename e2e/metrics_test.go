//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// mostLines is what one service may say in one scrape, however much has happened to it.
const mostLines = 1500

// TestEverySeriesIsThereFromTheStart scrapes the services as they come up. rate() does not see the first increment of a series that
// did not exist before, and that first one is the incident.
func TestEverySeriesIsThereFromTheStart(t *testing.T) {
	s := stack(t)
	s.scrapesAreShort(t) // after whatever the tests before this one have done to the shop
	s.Restart(t, services...)
	for _, service := range services {
		s.WaitReady(t, service)
	}
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			there := s.scrape(t, service)
			for _, want := range slices.Concat(ofEveryService(), ofItsStores(service), s.ofItsDependencies(t, service), itsOwn(service)) {
				if !slices.ContainsFunc(there, want.matches) {
					t.Errorf("there is no %s", want)
				}
			}
			for _, one := range there {
				if one.labels["service"] != service {
					t.Errorf("%s does not say of which service it is", one)
				}
			}
		})
	}
}

// TestStrangersMakeNoSeries asks for what nobody has, in ways nobody knows. A label that a stranger can choose fills the memory of
// Prometheus.
func TestStrangersMakeNoSeries(t *testing.T) {
	s := stack(t)
	for _, service := range services {
		ask := func(n int) {
			for i := range n {
				for _, method := range []string{"GET", "POST", fmt.Sprintf("ODD%d", i)} {
					for _, path := range []string{"/stranger%d", "/products/stranger%d", "/problems/stranger%d", "/orders/stranger%d"} {
						req, err := http.NewRequestWithContext(t.Context(), method, s.URL(service)+fmt.Sprintf(path, i), nil)
						if err != nil {
							t.Fatal(err)
						}
						if resp, err := http.DefaultClient.Do(req); err == nil {
							resp.Body.Close()
						}
					}
				}
			}
		}
		ask(1) // an answer 404 has a series, too: one
		before := len(s.scrape(t, service))
		ask(20)
		after := s.scrape(t, service)
		if len(after) > before {
			t.Errorf("%s: %d series more", service, len(after)-before)
		}
		for _, one := range after {
			for label, value := range one.labels {
				if !bounded(label, value) {
					t.Errorf("%s: label %s: %s", service, label, one)
				}
			}
		}
	}
	s.scrapesAreShort(t)
}

func (s *Stack) scrapesAreShort(t testing.TB) {
	t.Helper()
	for _, service := range services {
		lines := s.lines(t, service)
		t.Logf("%-16s %4d lines", service, lines)
		if lines > mostLines {
			t.Errorf("%s: %d lines in one scrape, at most %d may be", service, lines, mostLines)
		}
	}
}

// TestABreakIsSeenWithinFiveSeconds is about people: one who has broken something waits no longer for the page or a chart to say so.
func TestABreakIsSeenWithinFiveSeconds(t *testing.T) {
	fairly(t, func(t testing.TB) {
		const limit = 5 * time.Second
		s := stack(t)
		s.waitWhole(t)
		b := browse(t, s.URL("productpage"), 10)
		defer b.stop()
		time.Sleep(5 * time.Second) // so that there are rates to change
		s.Break(t, faults.Fault{Kind: "latency", Latency: 4800 * time.Millisecond}, "productpage-recommendations")
		broken := time.Now()
		seen := func(where string, look func() bool) {
			t.Helper()
			eventuallyIn(t, time.Until(broken.Add(limit)), where, look)
			t.Logf("%s after %.1f s", where, time.Since(broken).Seconds())
		}
		seen("the page says so", func() bool {
			return strings.Contains(newVisitor(t, s.URL("productpage")).get("/products/42").header.Get("Degraded"), "recommendations")
		})
		seen("the fault itself is in Prometheus", func() bool {
			return len(s.query(t, `chaos_fault_active{kind="latency",target="productpage-recommendations"} == 1`)) > 0
		})
		seen("degraded answers are in Prometheus", func() bool {
			return len(s.query(t, `sum(rate(degraded_responses_total{service="productpage"}[10s])) > 0`)) > 0
		})
		seen("the open breaker is in Prometheus", func() bool {
			return len(s.query(t, `circuit_breaker_state{service="productpage",dependency="recommendations",state="open"} == 1`)) > 0
		})
	})
}
