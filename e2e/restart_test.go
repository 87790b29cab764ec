//go:build e2e

package e2e

import (
	"net/http"
	"testing"
	"time"
)

// drainDelay is how long a service goes on answering after SIGTERM, by default;
// a quarter of a second less, for the signal has to arrive first.
const drainDelay = 2*time.Second - 250*time.Millisecond

// TestServicesBehindThePageRestartUnseen sends SIGTERM to each of the four
// services behind the page, starts it again, and counts page requests that
// failed meanwhile: none may, for a page has a fallback for each of its parts.
// Somebody presses the button of the checkout while the service is away: that is
// an order or a clean refusal, and the same form makes one order in the end.
func TestServicesBehindThePageRestartUnseen(t *testing.T) {
	s := stack(t)
	for _, service := range []string{"recommendations", "inventory", "pricing", "orders"} {
		t.Run(service, func(t *testing.T) {
			customer := s.atTheButton(t, 1021)
			stop := browse(t, s.URL("productpage"), 20).stop
			s.Stop(t, service)
			customer.press(t)
			s.Start(t, service)
			s.WaitReady(t, service)
			visits := stop()
			if len(visits) < 20 {
				t.Fatalf("only %d requests: the test saw nothing", len(visits))
			}
			failed := 0
			for _, v := range visits {
				if v.err != nil || v.status != http.StatusOK {
					failed++
					t.Logf("%s: %d %v", v.at.Format("15:04:05.000"), v.status, v.err)
				}
			}
			if failed > 0 {
				t.Errorf("%d of %d page requests failed while %s restarted", failed, len(visits), service)
			}
			eventually(t, "whole pages are back", func() bool {
				return look(http.DefaultClient, s.URL("productpage")+"/products/42").degraded == ""
			})
			customer.getsOneOrder(t)
		})
	}
}

// TestTheRestartingPageLosesNoRequestItAccepted restarts productpage itself
// under load. After SIGTERM it goes on answering for its drain delay; then its
// port is closed, which is honest, until the new process listens. So a request
// may fail only if it began after the drain delay and before the new process
// was ready. (The engine's port proxy accepts connections in between and resets
// them, so the error alone does not tell refused from lost.)
func TestTheRestartingPageLosesNoRequestItAccepted(t *testing.T) {
	s := stack(t)
	stop := browse(t, s.URL("productpage"), 20).stop
	eventually(t, "the first pages", func() bool { return look(http.DefaultClient, s.URL("productpage")+"/products/1").status == 200 })
	term := time.Now()
	s.Restart(t, "productpage")
	s.WaitReady(t, "productpage")
	ready := time.Now()
	time.Sleep(time.Second) // some load on the new process as well
	visits := stop()
	answered, away := 0, 0
	for _, v := range visits {
		switch {
		case v.err == nil && v.status == http.StatusOK:
			answered++
		case v.at.After(term.Add(drainDelay)) && v.at.Before(ready):
			away++
		default:
			t.Errorf("lost: a request sent %s after SIGTERM (ready again after %s): %d %v", v.at.Sub(term), ready.Sub(term), v.status, v.err)
		}
	}
	t.Logf("%d answered, %d came while the port was closed", answered, away)
	if answered < 20 {
		t.Errorf("only %d of %d requests answered", answered, len(visits))
	}
}
