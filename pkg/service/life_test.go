package service

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// diary notes what happened, in order.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) note(s string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, s)
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.entries)
}

// inLife runs a service in virtual time and hands its client and its end to the test.
func inLife(t *testing.T, build func(s *Service), test func(t *testing.T, s *Service, log *testLog, c *http.Client, stop func(), ended <-chan error)) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newStartingService(t, Program{})
		build(s)
		public, internal := newPipeListener(), newPipeListener()
		c := public.client()
		defer c.CloseIdleConnections()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- s.live(ctx, public, internal) }()
		synctest.Wait()
		test(t, s, log, c, stop, ended)
	})
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func TestServiceStartsBeforeItsStores(t *testing.T) {
	born := time.Time{}
	build := func(s *Service) {
		born = time.Now()
		s.Router.Get("/thing", ok)
		s.Start("database", func(context.Context) error {
			if time.Since(born) < 20*time.Second {
				return errors.New("connection refused")
			}
			return nil
		})
		s.Start("seed", func(context.Context) error { return nil })
	}
	inLife(t, build, func(t *testing.T, _ *Service, log *testLog, c *http.Client, stop func(), ended <-chan error) {
		if resp, _ := get(t, c, "/healthz"); resp.StatusCode != 200 {
			t.Errorf("healthz says %d before the store is there", resp.StatusCode)
		}
		resp, body := get(t, c, "/readyz")
		if resp.StatusCode != 503 || !strings.Contains(body, "database") || !strings.Contains(body, "seed") {
			t.Errorf("readyz says %d %s; must name what is missing", resp.StatusCode, body)
		}
		resp, body = get(t, c, "/thing")
		if resp.StatusCode != 503 || !strings.Contains(body, "/problems/starting") || resp.Header.Get("Retry-After") == "" {
			t.Errorf("a business route says %d %s", resp.StatusCode, body)
		}

		time.Sleep(20*time.Second + retryMost) // the longest pause between two tries
		synctest.Wait()
		for _, path := range []string{"/readyz", "/thing"} {
			if resp, body := get(t, c, path); resp.StatusCode != 200 {
				t.Errorf("%s says %d %s after the store came", path, resp.StatusCode, body)
			}
		}
		if n := log.count("waiting"); n != 1 {
			t.Errorf("%d lines about one change, want 1", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestDrainLosesNothing(t *testing.T) {
	var d diary
	build := func(s *Service) {
		s.base.DrainDelay, s.base.ShutdownTimeout = 5*time.Second, 10*time.Second
		s.Router.With(Timeout(9*time.Second)).Get("/slow", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(8 * time.Second)
			d.note("request done")
		})
		s.OnStop("pool", func(context.Context) error { d.note("pool closed"); return nil })
		s.OnStop("client", func(context.Context) error { d.note("client closed"); return nil })
		s.Go("relay", func(ctx context.Context) error { <-ctx.Done(); d.note("relay stopped"); return nil })
	}
	inLife(t, build, func(t *testing.T, _ *Service, _ *testLog, c *http.Client, stop func(), ended <-chan error) {
		if resp, _ := get(t, c, "/readyz"); resp.StatusCode != 200 || resp.Close {
			t.Fatalf("not ready or closing before the signal: %d", resp.StatusCode)
		}
		begin := time.Now()
		stop()
		synctest.Wait()
		time.Sleep(4 * time.Second)
		if resp, body := get(t, c, "/readyz"); resp.StatusCode != 503 || !resp.Close || !strings.Contains(body, "draining") {
			t.Errorf("draining, readyz says %d, close=%v, %s", resp.StatusCode, resp.Close, body)
		}
		if resp, _ := get(t, c, "/healthz"); resp.StatusCode != 200 {
			t.Errorf("draining, healthz says %d; a drain is no reason to be restarted", resp.StatusCode)
		}
		if resp, _ := get(t, c, "/slow"); resp.StatusCode != 200 { // accepted at 4 s, done at 12 s
			t.Errorf("a request in the drain delay got %d", resp.StatusCode)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < 12*time.Second || took > 13*time.Second {
			t.Errorf("the stop took %v, want just over the 12 s of the last request", took)
		}
		want := []string{"request done", "relay stopped", "client closed", "pool closed"}
		if !slices.Equal(d.all(), want) {
			t.Errorf("order %q, want %q", d.all(), want)
		}
		if _, err := c.Get("http://test/healthz"); err == nil {
			t.Error("still answering after the end")
		}
	})
}

func TestDrainCutsOffWhatHangs(t *testing.T) {
	release := make(chan struct{})
	build := func(s *Service) {
		release = make(chan struct{})
		s.base.DrainDelay, s.base.ShutdownTimeout = 0, 6*time.Second
		s.Router.Get("/hang", func(w http.ResponseWriter, r *http.Request) { <-release })
		s.OnStop("hanging step", func(context.Context) error { <-release; return nil })
		s.OnStop("failing step", func(context.Context) error { panic("boom") })
	}
	inLife(t, build, func(t *testing.T, _ *Service, log *testLog, c *http.Client, stop func(), ended <-chan error) {
		answer := make(chan error, 1)
		go func() { _, err := c.Get("http://test/hang"); answer <- err }()
		synctest.Wait()
		begin := time.Now()
		stop()
		err := <-ended
		if took := time.Since(begin); took != 6*time.Second+stopTimeout {
			t.Errorf("the stop took %v", took)
		}
		for _, part := range []string{"cut off", "hanging step", "boom"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("error does not tell of %q: %v", part, err)
			}
		}
		if err := <-answer; err == nil {
			t.Error("the hanging client got an answer")
		}
		if log.count("cut off") != 1 {
			t.Error("cut off is not in the log")
		}
		close(release)
	})
}

func TestWorkersStartLateAndAreRestarted(t *testing.T) {
	var d diary
	build := func(s *Service) {
		s.Go("relay", func(ctx context.Context) error {
			d.note("relay")
			if len(d.all()) < 4 {
				panic("boom")
			}
			<-ctx.Done()
			return ctx.Err()
		})
		s.Start("store", func(context.Context) error { time.Sleep(3 * time.Second); d.note("store"); return nil })
	}
	inLife(t, build, func(t *testing.T, _ *Service, log *testLog, _ *http.Client, stop func(), ended <-chan error) {
		time.Sleep(time.Minute)
		if want := []string{"store", "relay", "relay", "relay"}; !slices.Equal(d.all(), want) {
			t.Errorf("got %q, want %q", d.all(), want)
		}
		if n := log.count("worker failed"); n != 1 {
			t.Errorf("%d lines about the same panic, want 1", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestStopDuringStartUp(t *testing.T) {
	build := func(s *Service) {
		s.base.DrainDelay = 0
		s.Start("never", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		s.Go("worker", func(context.Context) error { t.Error("a worker started without its store"); return nil })
	}
	inLife(t, build, func(t *testing.T, _ *Service, _ *testLog, _ *http.Client, stop func(), ended <-chan error) {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestBrokenListenerEndsTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newStartingService(t, Program{})
		public := newPipeListener()
		public.Close()
		if err := s.live(t.Context(), public, newPipeListener()); err == nil || !strings.Contains(err.Error(), "listener") {
			t.Errorf("got %v", err)
		}
	})
}
