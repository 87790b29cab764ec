package service

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadinessNamesWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newTestService(t, Program{})
		var broken atomic.Bool
		s.Ready("postgres", func(context.Context) error {
			if broken.Load() {
				return errors.New("password of user pricing is wrong")
			}
			return nil
		})
		for round, wantCode := range []int{200, 503, 503, 200} {
			broken.Store(wantCode == 503)
			w := s.ask("GET", "/readyz")
			if w.Code != wantCode || strings.Contains(w.Body.String(), "postgres") != (wantCode == 503) {
				t.Errorf("round %d: %d %s", round, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), "password") {
				t.Errorf("the reason is shown to the public: %s", w.Body)
			}
			time.Sleep(checkCache)
		}
		if log.count("ready") != 2 || log.count("not ready") != 1 {
			t.Errorf("want one line per change:\n%s", log)
		}
	})
}

func TestProbesCannotHammerASickDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		var checks atomic.Int64
		s.Ready("postgres", func(context.Context) error {
			checks.Add(1)
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				for range 30 { // for 3 s
					s.ask("GET", "/readyz")
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		if n := checks.Load(); n < 3 || n > 4 {
			t.Errorf("%d checks for 1500 probes in 3 s", n)
		}
	})
}

func TestHangingCheckIsCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		s.Ready("frozen", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		s.Ready("panicking", func(context.Context) error { panic("boom") })
		s.Ready("fine", func(context.Context) error { return nil })
		begin := time.Now()
		w := s.ask("GET", "/readyz")
		if took := time.Since(begin); took != checkTimeout {
			t.Errorf("took %v", took)
		}
		body := w.Body.String()
		if w.Code != 503 || !strings.Contains(body, "frozen") || !strings.Contains(body, "panicking") || strings.Contains(body, "fine") {
			t.Errorf("%d %s", w.Code, body)
		}
	})
}
