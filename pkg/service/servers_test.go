package service

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
)

// overPipe serves s in virtual time and hands a raw connection to the test.
func overPipe(t *testing.T, build func(s *Service), test func(t *testing.T, conn net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		build(s)
		l := newPipeListener()
		server := newServer(s.root, s.Log)
		go server.Serve(l)
		defer time.Sleep(time.Second) // net/http lingers half a second on a connection it refused
		defer server.Close()
		conn, err := l.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		test(t, conn)
	})
}

// trickle sends start and then a byte a second, and returns how long the server put up with it.
func trickle(conn net.Conn, start string) time.Duration {
	begin := time.Now()
	var sender sync.WaitGroup
	sender.Go(func() {
		for _, err := io.WriteString(conn, start); err == nil; _, err = conn.Write([]byte("a")) {
			time.Sleep(time.Second)
		}
	})
	io.Copy(io.Discard, conn)
	took := time.Since(begin)
	sender.Wait()
	return took
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	overPipe(t, func(*Service) {}, func(t *testing.T, conn net.Conn) {
		if took := trickle(conn, "GET / HTTP/1.1\r\nHost: x\r\nX: "); took != readHeaderTimeout {
			t.Errorf("cut off after %v, want %v", took, readHeaderTimeout)
		}
	})
}

func TestSlowBodyIsCutOff(t *testing.T) {
	build := func(s *Service) {
		s.Router.With(Timeout(time.Minute)).Post("/", func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	}
	overPipe(t, build, func(t *testing.T, conn net.Conn) {
		if took := trickle(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"); took < readTimeout || took > readTimeout+2*time.Second {
			t.Errorf("cut off after %v, want about %v", took, readTimeout)
		}
	})
}

func TestIdleConnectionIsClosed(t *testing.T) {
	overPipe(t, func(*Service) {}, func(t *testing.T, conn net.Conn) {
		fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		io.Copy(io.Discard, resp.Body)
		begin := time.Now()
		in.ReadByte()
		if took := time.Since(begin); took != idleTimeout {
			t.Errorf("closed after %v, want %v", took, idleTimeout)
		}
	})
}

func TestHugeHeaderIsRefused(t *testing.T) {
	overPipe(t, func(*Service) {}, func(t *testing.T, conn net.Conn) {
		go fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("a", 2*maxHeaderBytes))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("got %v, %v", resp, err)
		}
	})
}

func TestWriteDeadlineFollowsTheRoute(t *testing.T) {
	for name, c := range map[string]struct {
		own, sleep time.Duration
		answered   bool
	}{
		"handler that ignores its deadline":        {2 * time.Second, 5 * time.Second, false},
		"route that may take longer than the rest": {30 * time.Second, 25 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			build := func(s *Service) {
				s.Router.With(Timeout(c.own)).Get("/", func(w http.ResponseWriter, _ *http.Request) {
					time.Sleep(c.sleep)
					io.WriteString(w, "answer")
				})
			}
			overPipe(t, build, func(t *testing.T, conn net.Conn) {
				fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				answer, _ := io.ReadAll(conn)
				if strings.Contains(string(answer), "answer") != c.answered {
					t.Errorf("got %q", answer)
				}
			})
		})
	}
}

func TestMetricsStayWithinTheirBudget(t *testing.T) {
	s, _ := newTestService(t, Program{})
	for i := range 12 { // as many routes and dependencies as the largest service has
		s.Router.Get(fmt.Sprintf("/route%d", i), ok)
	}
	policy := testPolicy() // with every layer that has series
	policy.Bulkhead, policy.Adaptive = resilience.Bulkhead{}, resilience.Adaptive{Min: 5, Max: 40}
	policy.Hedge = resilience.Hedge{MaxRatio: 0.05, Idempotent: true}
	for i := range 6 {
		if _, err := s.Dependency(fmt.Sprintf("dependency%d", i), policy); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = s.runStops() })
	if err := s.http.prepare(s.root); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		s.ask("GET", fmt.Sprintf("/route%d", i))
	}
	if n := strings.Count(s.scrape(), "\n"); n > 1500 {
		t.Errorf("%d lines of metrics, at most 1500 are wanted", n)
	} else {
		t.Logf("%d lines", n)
	}
}

// A port that cannot be opened must not keep the other one.
func TestListenGivesBackTheFirstPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	b := Base{PublicAddr: free.Addr().String(), InternalAddr: taken.Addr().String()}
	if _, _, err := b.listen(); err == nil {
		t.Fatal("listens twice on one port")
	}
	again, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", b.PublicAddr)
	if err != nil {
		t.Fatalf("the first port is still held: %v", err)
	}
	again.Close()
}
