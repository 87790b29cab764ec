//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watertight.example/demo/pulse"
)

// visit is what one page request of the background load came to.
type visit struct {
	at       time.Time
	took     time.Duration // until the whole page was read, or given up
	status   int           // 0: no answer
	degraded string
	err      error
	paused   time.Duration // of took, while the machine stood still
}

func (v visit) failed() bool                { return v.err != nil || v.status != http.StatusOK }
func (v visit) whole() bool                 { return !v.failed() && v.degraded == "" }
func (v visit) lacks(part string) bool      { return strings.Contains(v.degraded, part) }
func (v visit) excused() bool               { return v.paused > 0 } // of what it lacks
func (v visit) slower(d time.Duration) bool { return v.took-v.paused > d }

func (v visit) String() string {
	return fmt.Sprintf("%s: %d in %s, degraded %q, %v", v.at.Format("15:04:05.000"), v.status, v.took.Round(time.Millisecond), v.degraded, v.err)
}

// browsing is a steady stream of visitors, each on another product page.
type browsing struct {
	stop  func() visits // ends it, waits for the last answers and gives all of them
	heart *pulse.Watch

	mu     sync.Mutex
	visits visits
}

// browse asks for product pages at a steady pace until stop is called, whatever the answers are: open loop, so a slow shop does
// not slow the load down. A test that fails before it calls stop ends the load as well.
func browse(t testing.TB, base string, perSecond int) *browsing {
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b := &browsing{heart: pulse.Start()}
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				wg.Go(func() { b.add(look(client, fmt.Sprintf("%s/products/%d", base, 1+n%2000))) })
			}
		}
	})
	b.stop = sync.OnceValue(func() visits {
		cancel()
		wg.Wait()
		client.CloseIdleConnections()
		b.heart.Stop()
		return b.soFar()
	})
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *browsing) add(v visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.visits = append(b.visits, v)
}

// soFar gives what has been answered, in the order of asking.
func (b *browsing) soFar() visits {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.visits.without(b.heart.SoFar())
	slices.SortFunc(all, func(a, b visit) int { return a.at.Compare(b.at) })
	return all
}

// look asks for one page and reads all of it.
func look(client *http.Client, url string) (v visit) {
	v.at = time.Now()
	defer func() { v.took = time.Since(v.at) }()
	resp, err := client.Get(url)
	if err != nil {
		v.err = err
		return v
	}
	defer resp.Body.Close()
	v.status, v.degraded = resp.StatusCode, resp.Header.Get("Degraded")
	_, v.err = io.Copy(io.Discard, resp.Body)
	return v
}

// waitWhole waits until the page shows everything, whatever the test before has left behind: a breaker may still be open.
func (s *Stack) waitWhole(t testing.TB) {
	t.Helper()
	eventuallyIn(t, 30*time.Second, "a whole page", func() bool {
		return look(&http.Client{Timeout: 2 * time.Second}, s.URL("productpage")+"/products/42").whole()
	})
}
