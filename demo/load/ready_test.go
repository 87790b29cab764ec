package load

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// hosts is a network of more than one service.
type hosts map[string]http.RoundTripper

func (h hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	return h[req.URL.Host].RoundTrip(req)
}

// openingIn is a shop before a service that needs its time to start.
func openingIn(t *testing.T, others time.Duration) (Config, *fakeShop) {
	began, shop := time.Now(), &fakeShop{}
	cfg := gently(t, shop)
	cfg.After = []string{"http://stock", "http://shop"}
	stock := &fakeShop{ready: func() bool { return time.Since(began) > others }}
	cfg.Transport = hosts{"shop": inProcess{shop}, "stock": inProcess{stock}}
	return cfg, shop
}

// A page is ready before what is behind it. Its first visitors come when its pages can be whole, or when they have waited long enough.
func TestVisitorsOfANewShopComeWhenAllOfItIsThere(t *testing.T) {
	for others, want := range map[time.Duration]time.Duration{20 * time.Second: 20 * time.Second, time.Hour: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			cfg, shop := openingIn(t, others)
			cfg.Waiting = func(err error) {
				if !strings.Contains(err.Error(), "http://stock/readyz answers 503") {
					t.Errorf("told %q", err)
				}
				if len(shop.seen()) > 0 {
					t.Error("asked for pages before the shop was open")
				}
			}
			began := time.Now()
			s := mustRun(t, cfg)
			if first := time.Since(began) - cfg.Duration; first < want || first > want+time.Second {
				t.Errorf("the first visitor came after %s, want %s", first, want)
			}
			if s.Failed.Count != 0 || s.Requests < 99 {
				t.Errorf("%d of %d failed", s.Failed.Count, s.Requests)
			}
		})
	}
}

func TestStopWhileOthersStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		cfg, shop := openingIn(t, time.Hour)
		if _, err := Run(ctx, cfg); err == nil || len(shop.seen()) > 0 {
			t.Errorf("%v, after %d requests", err, len(shop.seen()))
		}
	})
}

func TestOthersAreOursToo(t *testing.T) {
	cfg, _ := openingIn(t, 0)
	cfg.After = append(cfg.After, "http://shop.example.com")
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "shop.example.com") {
		t.Errorf("a stranger's host: %v", err)
	}
}
