package service

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"watertight.example/pkg/service/servicetest"
)

// program returns a run like a service's own.
func program(build func(s *Service) error) servicetest.Run {
	return func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
		return Run(ctx, args, getenv, stdout, Program{Name: "test", Summary: "is tested", Config: &testConfig{}, Build: build})
	}
}

func noRoutes(*Service) error { return nil }

func TestRunServesOnRealPortsAndLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	t.Run("run", func(t *testing.T) { // a subtest, so that its cleanup runs before goleak looks
		in := servicetest.Start(t, program(func(s *Service) error {
			s.Router.Get("/hello", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
			s.Go("worker", func(ctx context.Context) error { <-ctx.Done(); return nil })
			return nil
		}), nil)
		in.WaitReady(t)
		for url, want := range map[string]int{
			in.URL + "/hello": 200, in.URL + "/healthz": 200, in.InternalURL + "/metrics": 200, in.InternalURL + "/debug/pprof/": 200, in.InternalURL + "/resilience": 200,
			in.URL + "/metrics": 404, in.URL + "/debug/pprof/": 404, in.URL + "/resilience": 404, // not for the public
		} {
			resp, err := client.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: %d, want %d", url, resp.StatusCode, want)
			}
		}
	})
}

// Clients that turn away at the first "Connection: close", as load balancers do at the unready probe, lose nothing to a restart.
func TestStopUnderLoadLosesNoRequest(t *testing.T) {
	const many = 8
	warm := make(chan struct{}, 2*many) // one from each client that is in full swing, or has failed
	in := servicetest.Start(t, program(func(s *Service) error { s.Router.Post("/orders", ok); return nil }), map[string]string{"DRAIN_DELAY": "2s"})
	in.WaitReady(t)
	var clients sync.WaitGroup
	for range many {
		clients.Go(func() {
			defer func() { warm <- struct{}{} }()
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for sent := 0; ; sent++ {
				if sent == 10 {
					warm <- struct{}{}
				}
				resp, err := client.Post(in.URL+"/orders", "application/json", strings.NewReader("{}"))
				if err != nil || resp.StatusCode != 200 {
					t.Errorf("lost after %d: %v %v", sent, resp, err)
					return
				}
				resp.Body.Close()
				if resp.Close {
					return
				}
			}
		})
	}
	for range many {
		<-warm
	}
	in.Signal()
	clients.Wait()
	if err := in.Stop(); err != nil {
		t.Error(err)
	}
}

func TestHealthcheckAsksTheRealPort(t *testing.T) {
	release := make(chan struct{})
	run := program(func(s *Service) error {
		s.Start("store", func(ctx context.Context) error {
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		return nil
	})
	in := servicetest.Start(t, run, nil)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(in.URL, "http://"))
	probe := func(host string) error {
		return run(t.Context(), []string{"test", "healthcheck"}, environment("PUBLIC_ADDR", host+":"+port), io.Discard)
	}
	if err := probe(""); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("starting, the healthcheck says %v; must name what is missing", err)
	}
	close(release)
	in.WaitReady(t)
	for _, host := range []string{"", "0.0.0.0", "127.0.0.1"} {
		if err := probe(host); err != nil {
			t.Errorf("ready, on %q: %v", host, err)
		}
	}
	if err := in.Stop(); err != nil {
		t.Error(err)
	}
	if err := probe(""); err == nil {
		t.Error("stopped, the healthcheck is content")
	}
}

func TestRunSaysWhyItCannot(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	closed := false
	stops := func(s *Service) error {
		closed = false
		s.OnStop("pool", func(context.Context) error { closed = true; return nil })
		return nil
	}
	for name, c := range map[string]struct {
		args  []string
		env   func(string) string
		build func(*Service) error
		want  string
	}{
		"unknown flag":    {args: []string{"test", "-port", "80"}, want: "-port"},
		"unknown command": {args: []string{"test", "serve"}, want: `unknown command "serve"`},
		"bad knob":        {env: environment("DRAIN_DELAY", "soon"), want: "DRAIN_DELAY"},
		"public port":     {env: environment("PUBLIC_ADDR", taken.Addr().String()), build: stops, want: "PUBLIC_ADDR"},
		"internal port":   {env: environment("PUBLIC_ADDR", "127.0.0.1:0", "INTERNAL_ADDR", taken.Addr().String()), build: stops, want: "INTERNAL_ADDR"},
		"build":           {build: func(s *Service) error { return errors.Join(stops(s), errors.New("no such dependency")) }, want: "no such dependency"},
	} {
		t.Run(name, func(t *testing.T) {
			closed = true
			args, env, build := c.args, c.env, c.build
			if args == nil {
				args = []string{"test"}
			}
			if env == nil {
				env = environment()
			}
			if build == nil {
				build = noRoutes
			}
			err := program(build)(t.Context(), args, env, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to name %s", err, c.want)
			}
			if !closed {
				t.Error("what Build opened was not closed")
			}
		})
	}
}
