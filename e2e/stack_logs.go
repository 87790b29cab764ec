//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

const artifacts = "artifacts" // in this folder, ignored by git, emptied when a run begins

// keepLogs writes what every container has said since the stack was started, and how it is now, into a folder named
// after the test. It is called when something has gone wrong already, so it only says what it could not do.
func (s *Stack) keepLogs(test string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	folder := filepath.Join(artifacts, strings.NewReplacer("/", "_", " ", "_").Replace(test))
	containers, err := s.containers(ctx)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	for _, c := range containers {
		if err == nil {
			err = s.keepLog(ctx, folder, c)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "e2e: the containers' logs are not (all) kept: %v\n", err)
		return
	}
	fmt.Fprintf(os.Stderr, "e2e: %s: the containers' logs are in e2e/%s\n", test, folder)
}

func (s *Stack) keepLog(ctx context.Context, folder string, c container) error {
	file, err := os.Create(filepath.Join(folder, c.service+".log"))
	if err != nil {
		return err
	}
	defer file.Close()
	logs, err := s.docker.ContainerLogs(ctx, c.id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true})
	if err != nil {
		return err
	}
	defer logs.Close()
	if _, err := stdcopy.StdCopy(file, file, logs); err != nil {
		return err
	}
	got, err := s.docker.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	state := got.Container.State
	_, err = fmt.Fprintf(file, "\n--- now %s, exit code %d, out of memory %t, started %s, finished %s\n",
		state.Status, state.ExitCode, state.OOMKilled, state.StartedAt, state.FinishedAt)
	return err
}
