//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"watertight.example/demo/faults"
)

const (
	// undisturbed is how long a new shop is watched before anything is broken. What is wrong with its first pages would be pending
	// after it, if it does not fire yet.
	undisturbed = 15 * time.Second

	sinceTheStart = 5 * time.Minute // this Prometheus knows nothing older

	// What the runbooks promise.
	firesWithin = 30 * time.Second
	endsWithin  = time.Minute
)

// expected are the alerts of this incident, as they are looked for in ALERTS.
var expected = []string{
	`alertname="CircuitBreakerOpen",service="productpage",dependency="recommendations"`,
	`alertname="DegradedResponses",service="productpage"`,
	`alertname="BulkheadSaturated",service="productpage",dependency="pricing"`,
	`alertname="TargetDown",instance="orders:9090"`,
	`alertname="ErrorBudgetBurnFast",service="productpage-naive"`,
}

// TestAlertsFireAndResolve lets the stack's Prometheus tell a whole incident by the demo's rules: silent on a new shop, then five
// kinds of trouble at once and an alert for each, then silent again. About 90 s, most of which are the alerts' own windows. Its file is
// the first by name, so that in a whole run nothing has been broken yet.
func TestAlertsFireAndResolve(t *testing.T) {
	fresh := shared.s == nil
	fairly(t, func(t testing.TB) {
		s := stack(t)
		for _, service := range []string{"productpage-naive", "recommendations-naive", "inventory-naive"} {
			s.WaitReady(t, service) // a page is ready before what is behind it, and lacks parts until then
		}
		if !fresh {
			s.forget(t)
		}
		fresh = false
		protected, naive := browse(t, s.URL("productpage"), 10), browse(t, s.URL("productpage-naive"), 5)
		defer protected.stop()
		defer naive.stop()
		time.Sleep(undisturbed)
		s.neverFired(t, sinceTheStart, "")
		s.nothingIsPending(t)

		mend := s.breakFiveParts(t, naive)
		broken := time.Now()
		for _, alert := range expected {
			eventuallyIn(t, time.Until(broken.Add(firesWithin)), "fires: "+alert, func() bool { return s.fires(t, alert) })
			t.Logf("%4.1f s: %s", time.Since(broken).Seconds(), alert)
		}
		mend()
		mended := time.Now()
		// The budget is a share of all pages. At the old pace, the few broken ones would be too many of them for three minutes more.
		many := browse(t, s.URL("productpage-naive"), 40)
		defer many.stop()
		eventuallyIn(t, endsWithin, "every alert ends", func() bool { return !s.fires(t, "") })
		t.Logf("all silent %.1f s later", time.Since(mended).Seconds())
		s.neverFired(t, sinceTheStart, `alertname=~"ErrorBudgetBurn.*",service="productpage"`) // which was the point of it all
	})
}

// breakFiveParts makes trouble of each kind and returns when the naive twin has had enough of it.
func (s *Stack) breakFiveParts(t testing.TB, naive *browsing) (mend func()) {
	t.Helper()
	s.Break(t, faults.Fault{Kind: "latency", Latency: 4800 * time.Millisecond}, "productpage-recommendations")
	s.Break(t, faults.Fault{Kind: "latency", Latency: 40 * time.Millisecond}, "productpage-pricing")
	s.override(t, "pricing", "limit", `{"limit":1}`)
	s.Stop(t, "orders")
	mend = sync.OnceFunc(func() {
		s.Start(t, "orders")
		s.Mend(t)
		s.override(t, "recommendations", "breaker", `{"force":"release"}`)
		s.override(t, "pricing", "limit", `{"limit":100}`)
	})
	t.Cleanup(mend)
	eventually(t, "the breaker opens by itself", func() bool {
		return s.sum(t, "productpage", "circuit_breaker_state", `dependency="recommendations"`, `state="open"`) == 1
	})
	// As its runbook has it during a repair. Left to itself it would probe ten times as often here as in production (openFor), and
	// count as one that flaps for a minute longer.
	s.override(t, "recommendations", "breaker", `{"force":"open"}`)

	began := time.Now()
	s.Break(t, faults.Fault{Kind: "latency", Latency: time.Second}, "naive-recommendations")
	eventually(t, "the naive page is late", func() bool {
		late := naive.soFar().where(func(v visit) bool { return v.at.After(began) && v.slower(750*time.Millisecond) })
		return len(late) >= 5
	})
	s.Mend(t, "naive-recommendations")
	return mend
}

// fires says whether an alert with these labels is firing now.
func (s *Stack) fires(t testing.TB, labels string) bool {
	return len(s.query(t, `ALERTS{alertstate="firing",`+labels+`}`)) > 0
}

// neverFired fails the test when an alert with these labels was firing at some time of the window until now.
func (s *Stack) neverFired(t testing.TB, window time.Duration, labels string) {
	t.Helper()
	for _, alert := range s.query(t, fmt.Sprintf(`count_over_time(ALERTS{alertstate="firing",%s}[%ds])`, labels, int(window.Seconds()))) {
		t.Errorf("fired with no reason: %s", alert)
	}
}

// nothingIsPending is about the alerts that wait a while before they fire.
func (s *Stack) nothingIsPending(t testing.TB) {
	t.Helper()
	for _, alert := range s.query(t, `ALERTS{alertstate="pending"}`) {
		t.Errorf("about to fire with no reason: %s", alert)
	}
}

// forget takes everything from Prometheus that it has stored, the state of its alerts included.
func (s *Stack) forget(t testing.TB) {
	t.Helper()
	if code := s.Exec(t, "prometheus", "sh", "-c", "rm -r /prometheus/*"); code != 0 {
		t.Fatal(fmt.Errorf("prometheus forgets nothing: exit code %d", code))
	}
	s.Kill(t, "prometheus")
	s.Start(t, "prometheus")
	eventually(t, "prometheus is back", func() bool {
		resp, err := http.Get(s.Prometheus() + "/-/ready")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
}
