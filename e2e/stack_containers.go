//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

const (
	labelProject = "com.docker.compose.project"
	labelService = "com.docker.compose.service"
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

// Exec runs a command inside a service's container and returns its exit code.
func (s *Stack) Exec(t testing.TB, service string, command ...string) (exitCode int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	container, err := s.compose.ServiceContainer(ctx, service)
	if err != nil {
		t.Fatalf("exec in %s: %v", service, err)
	}
	exitCode, _, err = container.Exec(ctx, command)
	if err != nil {
		t.Fatalf("exec in %s: %v", service, err)
	}
	return exitCode
}

// Probe asks a service's public listener for a path and returns the status, 0 when there is no answer within 5 s.
func (s *Stack) Probe(service, path string) (status int) {
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Get(s.URL(service) + path)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// WaitReady waits until a service's /readyz says yes; it fails at once when its container has ended.
func (s *Stack) WaitReady(t testing.TB, service string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyLimit)
	defer cancel()
	if err := s.waitReady(ctx, service); err != nil {
		t.Fatal(err)
	}
}

func (s *Stack) waitReady(ctx context.Context, service string) error {
	for {
		status := s.Probe(service, "/readyz")
		if status == http.StatusOK {
			return nil
		}
		if err := s.alive(ctx, service); err != nil {
			return fmt.Errorf("%s is not ready: %w", service, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: the last answer of /readyz was %d: %w", service, status, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// alive is nil while a service's container runs.
func (s *Stack) alive(ctx context.Context, service string) error {
	id, err := s.id(ctx, service)
	if err != nil {
		return err
	}
	got, err := s.docker.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	if state := got.Container.State; !state.Running {
		return fmt.Errorf("its container is %s, exit code %d, out of memory: %t", state.Status, state.ExitCode, state.OOMKilled)
	}
	return nil
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

// id finds the container of a service.
func (s *Stack) id(ctx context.Context, service string) (string, error) {
	containers, err := s.containers(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range containers {
		if c.service == service {
			return c.id, nil
		}
	}
	return "", fmt.Errorf("no container of %q", service)
}

type container struct {
	id, service string
	running     bool
}

// containers lists those of this project, running or not.
func (s *Stack) containers(ctx context.Context) (found []container, err error) {
	list, err := s.docker.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", labelProject+"="+project),
	})
	for _, c := range list.Items {
		found = append(found, container{c.ID, c.Labels[labelService], c.State == "running" || c.State == "paused"})
	}
	return found, err
}

func (s *Stack) killAll(ctx context.Context) error {
	containers, err := s.containers(ctx)
	for _, c := range containers {
		if c.running { // one that ended in between is no error
			_, _ = s.docker.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: "KILL"})
		}
	}
	return err
}
