//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/pulse"
)

// TestABurstFitsTheLimit lets far more visitors come at once than may ask recommendations at the same time, and recommendations hang,
// so that nobody makes room for a while. The breaker is held closed: here the limit has to hold by itself. What does not fit is
// refused at once, and its page goes out without that part.
func TestABurstFitsTheLimit(t *testing.T) { fairly(t, aBurst) }

func aBurst(t testing.TB) {
	const visitors = 120
	s := stack(t)
	s.waitWhole(t)
	configured := int(s.sum(t, "productpage", "bulkhead_max_concurrent", `dependency="recommendations"`))
	if configured < 1 || configured >= visitors {
		t.Fatalf("recommendations' limit is %d: %d visitors are no burst", configured, visitors)
	}
	s.override(t, "recommendations", "breaker", `{"force":"closed"}`)
	t.Cleanup(func() {
		s.override(t, "recommendations", "breaker", `{"force":"release"}`)
		s.override(t, "recommendations", "limit", fmt.Sprintf(`{"limit":%d}`, configured))
	})
	s.Break(t, faults.Fault{Kind: "hang"}, "productpage-recommendations")

	// As configured, and at an eighth of the visitors: that many are there within one attempt's 120 ms on the slowest machine.
	for _, limit := range []int{configured, visitors / 8} {
		s.override(t, "recommendations", "limit", fmt.Sprintf(`{"limit":%d}`, limit))
		refusals := s.sum(t, "productpage", "dependency_calls_total", `dependency="recommendations"`, `outcome="rejected_limit"`)
		stop := s.watchLimit(t, "recommendations")
		pages := s.burst(visitors)
		most := stop()
		refused := s.sum(t, "productpage", "dependency_calls_total", `dependency="recommendations"`, `outcome="rejected_limit"`) - refusals
		t.Logf("%d visitors at once, limit %d: at most %d in flight, %.0f refused, p95 %s", visitors, limit, most, refused, pages.p95())
		pages.noneFails(t)
		pages.allLack(t, "recommendations")
		if limit < configured && refused < 1 { // somebody who is refused has found the limit taken: a look every few milliseconds may not
			t.Errorf("at most %d in flight of %d, none refused: that was no burst", most, limit)
		}
	}
	s.Mend(t)
	s.waitWhole(t)
}

// burst asks for that many product pages in the same moment.
func (s *Stack) burst(visitors int) (all visits) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: visitors}}
	defer client.CloseIdleConnections()
	b := &browsing{heart: pulse.Start()}
	now := make(chan struct{})
	var wg sync.WaitGroup
	for n := range visitors {
		wg.Go(func() {
			<-now
			b.add(look(client, fmt.Sprintf("%s/products/%d", s.URL("productpage"), 1+n))) // each another: the page asks once for the same
		})
	}
	close(now)
	wg.Wait()
	b.heart.Stop()
	return b.soFar()
}

// watchLimit reads every few milliseconds how many calls to the dependency are in flight, until it is stopped, and gives the most that it
// saw. It fails when there were ever more than the limit of that moment, unless they were let in under a larger one: then there are no more
// of them than the reading before has seen, or its limit admitted.
func (s *Stack) watchLimit(t testing.TB, dependency string) (stop func() (most int)) {
	ctx, cancel := context.WithCancel(t.Context())
	most, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		for before := 0; ctx.Err() == nil; time.Sleep(3 * time.Millisecond) {
			inFlight, limit, err := s.inFlight(ctx, dependency)
			switch {
			case err != nil && ctx.Err() == nil:
				t.Error(err)
			case err == nil && inFlight > max(limit, before):
				inexcusable(t, "%d calls in flight, limit %d, before %d", inFlight, limit, before)
			}
			most, before = max(most, inFlight), max(limit, inFlight)
		}
	}()
	return func() int {
		cancel()
		<-done
		return most
	}
}

func (s *Stack) inFlight(ctx context.Context, dependency string) (inFlight, limit int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Internal("productpage")+"/resilience", nil)
	if err != nil {
		return 0, 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	var answer struct {
		Dependencies []struct {
			Name  string
			State struct {
				InFlight int `json:"in_flight"`
				Limit    int
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, 0, err
	}
	for _, d := range answer.Dependencies {
		if d.Name == dependency {
			return d.State.InFlight, d.State.Limit, nil
		}
	}
	return 0, 0, fmt.Errorf("productpage has no dependency %q", dependency)
}

// override changes a breaker or a limit of the page by hand, as operators do.
func (s *Stack) override(t testing.TB, dependency, what, body string) {
	t.Helper()
	resp, err := http.Post(s.Internal("productpage")+"/resilience/"+dependency+"/"+what, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("override %s of %s: %s %s", what, dependency, resp.Status, answer)
	}
}
