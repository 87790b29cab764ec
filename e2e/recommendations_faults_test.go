//go:build e2e

package e2e

import (
	"context"
	"io"
	"testing"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/incident"
)

// losing is short, 21 s of each: as many answers as a p95 needs before the fault (at 40/s 36 home pages and as many order pages); in the
// fault the breaker's opening and two open periods of 3 s; after it the healing (5 s at most), the second that shows it, and one more in
// which nothing may collapse again.
var losing = incident.Times{Baseline: 6 * time.Second, Fault: 8 * time.Second, Recovery: 7 * time.Second}

// TestRecommendationsFailInEveryWay breaks the optional part of the page in each way that a part on the other side of a network can
// break, on the wire and in its process. The page must not care which: every promise of the opening incident is measured and kept.
// The naive twin's two are not among them; it has shown what it does there.
func TestRecommendationsFailInEveryWay(t *testing.T) {
	const part = "recommendations"
	onTheWire := func(kind string) func(*Stack, testing.TB) {
		return func(s *Stack, t testing.TB) { s.Break(t, faults.Fault{Kind: kind}, "productpage-recommendations") }
	}
	mend := func(s *Stack, t testing.TB) { s.Mend(t) }
	for _, way := range []struct {
		name          string
		lose, restore func(*Stack, testing.TB)
	}{
		{"hung", onTheWire("hang"), mend},
		{"refused", onTheWire("refuse"), mend},
		{"reset", onTheWire("reset"), mend},
		{"trickling", onTheWire("trickle"), mend},
		{"killed", func(s *Stack, t testing.TB) { s.Kill(t, part) }, func(s *Stack, t testing.TB) { s.Start(t, part) }},
		{"frozen", func(s *Stack, t testing.TB) { s.Pause(t, part) }, func(s *Stack, t testing.TB) { s.Unpause(t, part) }},
		{"disconnected", func(s *Stack, t testing.TB) { s.Disconnect(t, part) }, func(s *Stack, t testing.TB) { s.Connect(t, part) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			fairly(t, func(t testing.TB) { loses(t, part, way.name, way.lose, way.restore) })
		})
	}
}

// loses plays one way, from the whole page to the whole page.
func loses(t testing.TB, part, how string, lose, restore func(*Stack, testing.TB)) {
	s := stack(t)
	born := s.births(t, "productpage", "inventory", "pricing", "orders", "toxiproxy", "janitor")
	story := incident.Losing(losing, part+" are "+how,
		func(context.Context) error { lose(s, t); return nil },
		func(context.Context) error {
			restore(s, t)
			s.WaitReady(t, part) // a killed process needs its time to start; that is not the page's healing
			return nil
		})
	s.waitWhole(t)
	report, err := incident.Run(t.Context(), story, incident.Config{
		Protected: incident.Twin{Target: s.URL("productpage"), Internal: s.Internal("productpage")},
		Rate:      40, Toxiproxy: s.API(), OpenFor: openFor, Terminal: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	judged(t, report)
	s.sameProcesses(t, born)
}
