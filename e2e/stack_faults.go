//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// Stop sends SIGTERM (SIGINT to Postgres) and waits until the containers have ended by themselves, all at once.
func (s *Stack) Stop(t testing.TB, services ...string) {
	t.Helper()
	s.each(t, "stop", services, func(ctx context.Context, id string) error {
		_, err := s.docker.ContainerStop(ctx, id, client.ContainerStopOptions{})
		return err
	})
}

// Start starts stopped or killed containers, all at once, and does not wait until they are ready.
func (s *Stack) Start(t testing.TB, services ...string) {
	t.Helper()
	s.each(t, "start", services, func(ctx context.Context, id string) error {
		_, err := s.docker.ContainerStart(ctx, id, client.ContainerStartOptions{})
		return err
	})
}

// Restart is Stop, then Start.
func (s *Stack) Restart(t testing.TB, services ...string) {
	t.Helper()
	s.Stop(t, services...)
	s.Start(t, services...)
}

// Kill sends SIGKILL: no drain, no goodbye.
func (s *Stack) Kill(t testing.TB, services ...string) {
	t.Helper()
	s.each(t, "kill", services, func(ctx context.Context, id string) error {
		_, err := s.docker.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
		return err
	})
}

// Pause freezes every process of the containers: connections are accepted, nothing answers.
func (s *Stack) Pause(t testing.TB, services ...string) {
	t.Helper()
	s.each(t, "pause", services, func(ctx context.Context, id string) error {
		_, err := s.docker.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		return err
	})
}

// Unpause ends Pause.
func (s *Stack) Unpause(t testing.TB, services ...string) {
	t.Helper()
	s.each(t, "unpause", services, func(ctx context.Context, id string) error {
		_, err := s.docker.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
		return err
	})
}

// Disconnect takes containers off the network: their names no longer resolve, what they sent is lost.
func (s *Stack) Disconnect(t testing.TB, services ...string) {
	t.Helper()
	s.each(t, "disconnect", services, func(ctx context.Context, id string) error {
		_, err := s.docker.NetworkDisconnect(ctx, network, client.NetworkDisconnectOptions{Container: id, Force: true})
		return err
	})
}

// Connect ends Disconnect. The container may have another address afterwards, as it would in real life.
func (s *Stack) Connect(t testing.TB, services ...string) {
	t.Helper()
	for _, service := range services {
		s.each(t, "connect", []string{service}, func(ctx context.Context, id string) error {
			_, err := s.docker.NetworkConnect(ctx, network, client.NetworkConnectOptions{
				Container:      id,
				EndpointConfig: &apinetwork.EndpointSettings{Aliases: []string{service}},
			})
			return err
		})
	}
}

// heal undoes what a test that failed half-way left broken, so that one failure is not followed by many.
func (s *Stack) heal(t testing.TB) {
	t.Helper()
	containers, err := s.containers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers {
		if c.state != "running" || !c.connected {
			t.Logf("%s was left %s, connected: %t", c.service, c.state, c.connected)
		}
		switch c.state {
		case "paused":
			s.Unpause(t, c.service)
		case "exited":
			s.Start(t, c.service)
		}
		if !c.connected {
			s.Connect(t, c.service)
		}
	}
}

// each does one thing to several containers at once and fails the test when it cannot be done to one of them. The
// context is not the test's: a cleanup must still be able to mend what the test broke.
func (s *Stack) each(t testing.TB, verb string, services []string, do func(ctx context.Context, id string) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := make([]error, len(services))
	var wg sync.WaitGroup
	for i, service := range services {
		wg.Go(func() {
			id, err := s.id(ctx, service)
			if err == nil {
				err = do(ctx, id)
			}
			if err != nil {
				errs[i] = fmt.Errorf("%s %s: %w", verb, service, err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
