//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

const (
	labelProject = "com.docker.compose.project"
	labelService = "com.docker.compose.service"
)

// Exec runs a command inside a service's container and returns its exit code.
func (s *Stack) Exec(t testing.TB, service string, command ...string) (exitCode int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // not the test's: cleanups use it
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

// births is when each of the containers was started last: one that died, or was restarted by somebody, has another.
func (s *Stack) births(t testing.TB, services ...string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	born := map[string]string{}
	for _, service := range services {
		if err := s.alive(ctx, service); err != nil {
			t.Errorf("%s: %v", service, err)
			continue
		}
		id, err := s.id(ctx, service)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.docker.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		born[service] = got.Container.State.StartedAt
	}
	return born
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
	id, service, state string
	connected          bool
}

// containers lists those of this project, running or not.
func (s *Stack) containers(ctx context.Context) (found []container, err error) {
	list, err := s.docker.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", labelProject+"="+project),
	})
	for _, c := range list.Items {
		_, connected := c.NetworkSettings.Networks[network]
		found = append(found, container{c.ID, c.Labels[labelService], string(c.State), connected})
	}
	return found, err
}

func (s *Stack) killAll(ctx context.Context) error {
	containers, err := s.containers(ctx)
	for _, c := range containers {
		if c.state == "running" || c.state == "paused" { // one that ended in between is no error
			_, _ = s.docker.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: "KILL"})
		}
	}
	return err
}
