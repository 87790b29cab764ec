package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRunSeparatesFullDegradedFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var degraded, failed int
		shop := &fakeShop{
			pace: func() time.Duration { return 20 * time.Millisecond },
			degraded: func(path string) string {
				if strings.HasSuffix(path, "3") {
					return "stock, recommendations"
				}
				return ""
			},
			status: func(path string) int {
				if strings.HasSuffix(path, "8") {
					return http.StatusServiceUnavailable
				}
				return 0
			},
		}
		cfg := gently(t, shop)
		cfg.Duration, cfg.Mix = time.Minute, Mix{Product: 1}
		cfg.Observe = func(s Sample) {
			if s.Status == http.StatusServiceUnavailable {
				failed++
			}
			if len(s.Parts) == 2 {
				degraded++
			}
		}
		s := mustRun(t, cfg)

		if got := len(shop.seen()); s.Requests != got || got < 600 || got > 601 {
			t.Errorf("counted %d of %d requests, want all of 600 or 601", s.Requests, got)
		}
		if degraded == 0 || failed == 0 {
			t.Fatalf("the test made no difference: %d degraded, %d failed", degraded, failed)
		}
		if s.Degraded.Count != degraded || s.Failed.Count != failed || s.Full.Count != s.Requests-degraded-failed {
			t.Errorf("full %d, degraded %d, failed %d of %d; observed %d degraded, %d failed",
				s.Full.Count, s.Degraded.Count, s.Failed.Count, s.Requests, degraded, failed)
		}
		if s.Parts["stock"] != degraded || s.Parts["recommendations"] != degraded || s.Causes["status 503"] != failed {
			t.Errorf("parts %v, causes %v; want %d each, %d", s.Parts, s.Causes, degraded, failed)
		}
		if s.Full.P50 != 20 || s.Full.P99 != 20 || s.Degraded.Max != 20 {
			t.Errorf("every page took 20 ms, reported p50 %v, p99 %v, degraded max %v", s.Full.P50, s.Full.P99, s.Degraded.Max)
		}
		if p := s.Pages[Product]; p.Full+p.Degraded+p.Failed != s.Requests {
			t.Errorf("all were product pages, got %+v", s.Pages)
		}
	})
}

// A closed loop of one visitor would send two requests here, find them slow, and never show the 60 people waiting.
func TestSlowShopDoesNotSlowTheVisitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{pace: func() time.Duration { return 3 * time.Second }}
		cfg := gently(t, shop)
		cfg.Rate, cfg.Duration, cfg.Timeout, cfg.Every = 20, 5*time.Second, 10*time.Second, time.Second
		most := 0
		cfg.Progress = func(w Window) { most = max(most, w.InFlight) }
		cfg.Mix = Mix{Product: 1}
		s := mustRun(t, cfg)
		if s.Requests < 100 || s.Requests > 101 {
			t.Errorf("sent %d requests, want 20 a second for 5 s", s.Requests)
		}
		if most < 58 || most > 62 {
			t.Errorf("at most %d in flight, want 3 s of 20 a second", most)
		}
		if s.Full.P50 != 3000 {
			t.Errorf("p50 %v ms, want 3000", s.Full.P50)
		}
	})
}

func TestHangingShopFailsByTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{pace: func() time.Duration { return time.Hour }}
		s := mustRun(t, gently(t, shop))
		if s.Failed.Count != s.Requests || s.Causes["timeout"] != s.Requests || s.Requests < 100 {
			t.Errorf("%d requests, %d failed, causes %v: want all by timeout", s.Requests, s.Failed.Count, s.Causes)
		}
		if s.Failed.P50 != 2000 {
			t.Errorf("given up after %v ms, want 2000", s.Failed.P50)
		}
	})
}

func TestWindowsAddUpToTheSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{pace: func() time.Duration { return 5 * time.Millisecond }}
		cfg := gently(t, shop)
		cfg.Every = time.Second
		var windows []Window
		cfg.Progress = func(w Window) { windows = append(windows, w) }
		s := mustRun(t, cfg)
		sum := 0
		for _, w := range windows {
			sum += w.Full
			if w.Rate < 9 || w.Rate > 11 || w.P95 != 5*time.Millisecond {
				t.Errorf("window %+v: want 10/s and 5 ms", w)
			}
		}
		if len(windows) != 10 || sum < s.Requests-2 || sum > s.Requests { // the last answers come after the last tick
			t.Errorf("%d windows hold %d of %d requests", len(windows), sum, s.Requests)
		}
	})
}

func TestWaitsUntilTheTargetIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		shop := &fakeShop{ready: func() bool { return time.Since(began) > 25*time.Second }}
		cfg := gently(t, shop)
		var told []time.Duration
		cfg.Waiting = func(err error) {
			told = append(told, time.Since(began))
			if !strings.Contains(err.Error(), "/readyz answers 503") {
				t.Errorf("told %q", err)
			}
			if len(shop.seen()) > 0 {
				t.Error("asked for pages before the shop was ready")
			}
		}
		s := mustRun(t, cfg)
		if len(told) != 3 || told[0] != 0 || told[1] != 10*time.Second || told[2] != 20*time.Second {
			t.Errorf("told at %v, want at once and every 10 s", told)
		}
		if s.Failed.Count != 0 || s.Seconds > 11 {
			t.Errorf("waiting counts as nothing, got %d failed in %v s", s.Failed.Count, s.Seconds)
		}
	})
}

func TestStopBeforeReadyIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := Run(ctx, gently(t, &fakeShop{ready: func() bool { return false }}))
		if err == nil || !strings.Contains(err.Error(), "before the target was ready") {
			t.Errorf("got %v", err)
		}
	})
}

func TestStoppedRunReportsWhatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		shop := &fakeShop{pace: func() time.Duration {
			if time.Since(began) > 4*time.Second {
				return time.Hour
			}
			return 10 * time.Millisecond
		}}
		cfg := gently(t, shop)
		cfg.Duration, cfg.Timeout, cfg.Mix = 0, 30*time.Second, Mix{Browse: 1}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		s, err := Run(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if s.Failed.Count != 0 || s.Full.Count < 39 || s.CutShort < 9 || s.CutShort > 12 {
			t.Errorf("full %d, failed %d, cut short %d; want 40, 0, about 10", s.Full.Count, s.Failed.Count, s.CutShort)
		}
		if took := time.Since(began); took < 7*time.Second || took > 7100*time.Millisecond {
			t.Errorf("stopped %v after the start, want the 5 s and the grace of 2 s", took)
		}
	})
}

func TestOverTheRealNetwork(t *testing.T) {
	shop := &fakeShop{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.RequestURI, "#") || r.URL.Fragment != "" {
			t.Errorf("the request's number went over the wire: %s", r.RequestURI)
		}
		shop.ServeHTTP(w, r)
	}))
	defer srv.Close()
	cfg := gently(t, nil)
	cfg.Target, cfg.Transport, cfg.Rate, cfg.Duration, cfg.Timeout = srv.URL, nil, 500, 200*time.Millisecond, time.Minute
	cfg.Mix = Mix{Product: 1, Buy: 1}
	s := mustRun(t, cfg)
	wire := shop.seen()
	if s.Failed.Count != 0 || s.Requests != len(wire) || s.Requests < 50 || s.Purchases.Placed == 0 {
		t.Errorf("%d of %d requests counted, failed by %v, %+v", s.Requests, len(wire), s.Causes, s.Purchases)
	}
}

func TestRefusedConnection(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	cfg := gently(t, nil)
	cfg.Target, cfg.Transport = srv.URL, nil
	srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Waiting = func(err error) {
		if got := networkCause(err.Error()); got != "refused" {
			t.Errorf("%v was taken for %q", err, got)
		}
		cancel()
	}
	if _, err := Run(ctx, cfg); err == nil {
		t.Error("a run without a shop must say so")
	}
}
