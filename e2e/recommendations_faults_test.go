//go:build e2e

package e2e

import (
	"net/http"
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// TestRecommendationsFailInEveryWay breaks the optional part of the page in each way that a part on the other side of a network can
// break, on the wire and in its process. The page must not care which: the promises are the opening incident's.
func TestRecommendationsFailInEveryWay(t *testing.T) {
	const part = "recommendations"
	onTheWire := func(kind string) func(*Stack, testing.TB) {
		return func(s *Stack, t testing.TB) { s.Break(t, faults.Fault{Kind: kind}, "productpage-recommendations") }
	}
	for _, way := range []struct {
		name          string
		breakIt, mend func(*Stack, testing.TB)
	}{
		{"hung", onTheWire("hang"), func(s *Stack, t testing.TB) { s.Mend(t) }},
		{"refused", onTheWire("refuse"), func(s *Stack, t testing.TB) { s.Mend(t) }},
		{"reset", onTheWire("reset"), func(s *Stack, t testing.TB) { s.Mend(t) }},
		{"trickling", onTheWire("trickle"), func(s *Stack, t testing.TB) { s.Mend(t) }},
		{"killed", func(s *Stack, t testing.TB) { s.Kill(t, part) }, func(s *Stack, t testing.TB) { s.Start(t, part) }},
		{"frozen", func(s *Stack, t testing.TB) { s.Pause(t, part) }, func(s *Stack, t testing.TB) { s.Unpause(t, part) }},
		{"disconnected", func(s *Stack, t testing.TB) { s.Disconnect(t, part) }, func(s *Stack, t testing.TB) { s.Connect(t, part) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			s := stack(t)
			s.waitWhole(t)
			b := browse(t, s.URL("productpage"), 20)
			began := time.Now()
			time.Sleep(4 * time.Second) // 80 pages: the usual, of this very minute

			breaking := time.Now()
			way.breakIt(s, t)
			broken := time.Now()
			time.Sleep(9 * time.Second) // two open periods and what comes before: the breaker has probed in vain
			mending := time.Now()
			way.mend(s, t)
			s.WaitReady(t, part) // a killed process needs its time to start; that is not the page's healing
			mended := time.Now()
			b.heals(t, mended, openFor+probeTime)

			all := b.stop()
			all.noneFails(t)
			all.keepTheBudget(t)
			all.within(broken, mending).allLack(t, part)
			all.within(broken.Add(openWithin), mending).areAsFastAs(t, all.within(began, breaking))
		})
	}
}

// waitWhole waits until the page shows everything, whatever the test before has left behind: a breaker may still be open.
func (s *Stack) waitWhole(t testing.TB) {
	t.Helper()
	eventuallyIn(t, 30*time.Second, "a whole page", func() bool {
		return look(&http.Client{Timeout: 2 * time.Second}, s.URL("productpage")+"/products/42").whole()
	})
}
