//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	// No reaper image is needed: start removes what a killed run left behind. And the engine's ports are this machine's,
	// also where a /.dockerenv makes testcontainers believe that it is inside a container.
	for name, value := range map[string]string{"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1"} {
		if os.Getenv(name) == "" && os.Getenv("DOCKER_HOST") == "" {
			os.Setenv(name, value)
		}
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		remove()
		os.Exit(1)
	}()
	code := m.Run()
	fmt.Printf("e2e: %d times was a test played again, because the machine stood still (at most %d are allowed)\n", shared.replays, mostReplays)
	if !remove() {
		code = 1
	}
	os.Exit(code)
}

// remove ends the shared stack, if there is one.
func remove() (ok bool) {
	if shared.s == nil || shared.err != nil {
		return true
	}
	if err := shared.s.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: the stack is not removed:", err)
		return false
	}
	return true
}

// TestStackIsReachable is the test of the harness itself: whatever it gives to the other tests, answers.
func TestStackIsReachable(t *testing.T) {
	s := stack(t)
	for _, service := range shopServices {
		if status := s.Probe(service, "/readyz"); status != http.StatusOK {
			t.Errorf("%s: /readyz answers %d", service, status)
		}
		if resp, err := http.Get(s.Internal(service) + "/metrics"); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: /metrics: %v %v", service, resp, err)
		} else {
			resp.Body.Close()
		}
		if code := s.Exec(t, service, "/app", "healthcheck"); code != 0 {
			t.Errorf("%s: the container's own probe exits with %d", service, code)
		}
	}
	if status := s.Probe("productpage", "/products/42"); status != http.StatusOK {
		t.Errorf("a product page answers %d", status)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for database := range servers {
		var tables int
		if err := s.SQL(database).QueryRow(ctx, `SELECT count(*) FROM pg_stat_user_tables`).Scan(&tables); err != nil || tables == 0 {
			t.Errorf("%s: the auditor sees %d tables: %v", database, tables, err)
		}
		if _, err := s.SQL(database).Exec(ctx, `CREATE TABLE scribble (i int)`); err == nil {
			t.Errorf("%s: the auditor may write", database)
		}
	}
	if err := s.Redis().Ping(ctx).Err(); err != nil {
		t.Errorf("redis: %v", err)
	}
	if edges, err := s.Toxiproxy().Proxies(); err != nil || len(edges) == 0 {
		t.Errorf("toxiproxy has %d edges: %v", len(edges), err)
	}
}

// TestContainersCanBeBroken is the other half of the harness: each way to break a container breaks it, and the way back
// heals it, with the same ports.
func TestContainersCanBeBroken(t *testing.T) {
	s := stack(t)
	for name, fault := range map[string]struct{ breakIt, heal func(testing.TB, ...string) }{
		"stop":       {s.Stop, s.Start},
		"kill":       {s.Kill, s.Start},
		"pause":      {s.Pause, s.Unpause},
		"disconnect": {s.Disconnect, s.Connect},
	} {
		t.Run(name, func(t *testing.T) {
			fault.breakIt(t, "pricing")
			if status := s.Probe("pricing", "/healthz"); status != 0 {
				t.Errorf("it still answers: %d", status)
			}
			fault.heal(t, "pricing")
			s.WaitReady(t, "pricing")

			fault.breakIt(t, "pricing")
			s.heal(t) // as at the start of the next test, when this one had failed here
			s.WaitReady(t, "pricing")
		})
	}
}
