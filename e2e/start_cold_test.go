//go:build e2e && soak

package e2e

import (
	"net/http"
	"testing"
	"time"
)

// TestAColdStartOpensNoBreaker restarts all services and asks for pages the
// moment they are ready: slow first requests must not look like an outage. When
// the machine itself stood still it was one, for all anybody could see; then it
// is done again. A page that fails is never excused.
func TestAColdStartOpensNoBreaker(t *testing.T) {
	s := stack(t)
	for try := 1; ; try++ {
		s.Stop(t, services...)
		s.Start(t, services...)
		for _, service := range services {
			s.WaitReady(t, service)
		}
		heart := takePulse()
		stop := browse(t, s.URL("productpage"), 50).stop
		time.Sleep(5 * time.Second)
		for _, v := range stop() {
			if v.err != nil || v.status != http.StatusOK {
				t.Errorf("a page of a cold shop: %d %v", v.status, v.err)
			}
		}
		pause := heart.end()
		if opened := s.breakerOpenings(t); opened > 0 && pause > standstill && try < 3 {
			t.Logf("breakers opened %v times while the machine stood still for %s: once more", opened, pause)
			continue
		}
		s.noBreakerOpened(t)
		return
	}
}
