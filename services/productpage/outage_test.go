package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/resilience/resiliencetest"
	"watertight.example/pkg/service"
)

// The second act of the outage in virtual time, with the Config and the code the page runs with: inventory gets slow, later it is
// mended. What happens, and in which order: the limit is cut, the breaker opens, the snapshot serves; after the mend a probe, live
// counts again, and the old limit.
func TestWhenInventoryGetsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const healthy, sick = time.Minute, 20 * time.Second
		usual := resiliencetest.Answer(4 * time.Millisecond)
		r := newRehearsal(t, resiliencetest.NewScript(resiliencetest.Phase{For: healthy, Do: usual},
			resiliencetest.Phase{For: sick, Do: resiliencetest.Answer(70 * time.Millisecond)}, // above SlowAfter, below an attempt's time
			resiliencetest.Phase{Do: usual}))
		full := r.dep.State().Limit
		low := func(share float64) func() bool {
			return func() bool { return float64(r.dep.State().Limit) <= share*float64(full) }
		}
		is := func(s resilience.BreakerState) func() bool { return func() bool { return r.dep.State().Breaker == s } }

		r.run(t, healthy)
		if got := r.dep.State().Limit; got != full || !is(resilience.BreakerClosed)() || r.count(stale) > 0 {
			t.Fatalf("while all was well: limit %d of %d, %d snapshots", got, full, r.count(stale))
		}
		snapshot := func() bool { return r.count(stale) > 0 }
		at := r.run(t, sick, low(0.6), is(resilience.BreakerOpen), snapshot)
		if cut, opened, served := at[0], at[1], at[2]; cut == 0 || cut > 3*time.Second || opened <= cut || served < opened || served > 12*time.Second {
			t.Errorf("limit cut after %v (want at most 3 s), breaker open after %v (want later), snapshot after %v (want then, within 12 s)", cut, opened, served)
		}
		at = r.run(t, 30*time.Second, is(resilience.BreakerClosed), func() bool { return is(resilience.BreakerClosed)() && !low(0.899)() })
		if closed, restored := at[0], at[1]; closed == 0 || restored == 0 || restored > 15*time.Second {
			t.Errorf("mended: breaker closed after %v, 90 %% of the limit after %v, want at most 15 s", closed, restored)
		}
		if n := r.count(missing); n > 0 {
			t.Errorf("%d pages without a count", n)
		}
	})
}

// rehearsal is the page's inventory part in front of a scripted inventory, with a snapshot that is always there.
type rehearsal struct {
	*inventory
	script *resiliencetest.Script

	mu     sync.Mutex
	served map[source]int
}

func newRehearsal(t *testing.T, script *resiliencetest.Script) *rehearsal {
	t.Helper()
	cfg, budget := &Config{}, ourContract().stock
	if err := service.Load(cfg, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	dep, err := resilience.New("inventory", cfg.inventoryPolicy(budget), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rehearsal{script: script, served: map[source]int{}}
	dep.HTTPClient().Transport = r
	r.inventory = &inventory{dep: dep, url: "http://inventory", flight: flight[map[int]Stock]{patience: budget.Total},
		snapshot: func(_ context.Context, skus []int) (map[int]Stock, error) {
			return map[int]Stock{skus[0]: {Available: 7, Snapshot: true}}, nil
		}}
	return r
}

// RoundTrip implements http.RoundTripper: it is the scripted inventory.
func (r *rehearsal) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.script.Call(req.Context()); err != nil {
		return nil, err
	}
	body := fmt.Sprintf(`{"as_of":%q,"stock":[{"sku":%s,"available":7}],"unknown":[]}`, time.Now().Format(time.RFC3339Nano), req.URL.Query().Get("sku"))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// count returns how many pages got their stock from there.
func (r *rehearsal) count(from source) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.served[from]
}

// run asks for the stock 25 times a second and returns when, since its begin, each of the events was first seen; 0 is never.
func (r *rehearsal) run(t *testing.T, d time.Duration, events ...func() bool) []time.Duration {
	seen := make([]time.Duration, len(events))
	var pages sync.WaitGroup
	begun := time.Now()
	for sku := 1; time.Since(begun) < d; sku++ { // another product each time, or the calls would be shared
		pages.Go(func() {
			_, from := r.stock(t.Context(), sku)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.served[from]++
		})
		synctest.Wait()
		for i, happened := range events {
			if seen[i] == 0 && happened() {
				seen[i] = time.Since(begun)
			}
		}
		time.Sleep(40 * time.Millisecond)
	}
	pages.Wait()
	return seen
}
