//go:build e2e

package e2e

import (
	"testing"
	"time"
)

// TestAColdStartOpensNoBreaker restarts all services and asks for pages the
// moment they are ready: slow first requests must not look like an outage.
func TestAColdStartOpensNoBreaker(t *testing.T) {
	fairly(t, func(t testing.TB) {
		s := stack(t)
		s.Stop(t, services...)
		s.Start(t, services...)
		for _, service := range services {
			s.WaitReady(t, service)
		}
		b := browse(t, s.URL("productpage"), 50)
		time.Sleep(5 * time.Second)
		b.stop().noneFails(t)
		s.noBreakerOpened(t)
	})
}
