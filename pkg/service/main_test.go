package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestHelperMain is not a test: it is the process that TestMain's cases start.
func TestHelperMain(t *testing.T) {
	kind := os.Getenv("HELPER_MAIN")
	if kind == "" {
		return
	}
	Main(func(ctx context.Context, _ []string, _ func(string) string, stdout io.Writer) error {
		if kind == "fails" {
			return errors.New("no way")
		}
		fmt.Fprintln(stdout, "up")
		<-ctx.Done()
		fmt.Fprintln(stdout, "draining")
		if kind == "hangs" {
			select {}
		}
		return nil
	})
	os.Exit(0)
}

func helper(t *testing.T, kind string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperMain$")
	cmd.Env = append(os.Environ(), "HELPER_MAIN="+kind)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewReader(out)
}

func wantOutput(t *testing.T, out *bufio.Reader, want string) {
	t.Helper()
	if line, err := out.ReadString('\n'); line != want+"\n" {
		t.Fatalf("got %q, %v, want %q", line, err, want)
	}
}

func TestFirstSignalDrains(t *testing.T) {
	cmd, out := helper(t, "drains")
	wantOutput(t, out, "up")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	wantOutput(t, out, "draining")
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	cmd, out := helper(t, "hangs")
	wantOutput(t, out, "up")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	wantOutput(t, out, "draining")
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	for limit := time.After(20 * time.Second); ; { // the default action returns a moment after ctx ended
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
				t.Errorf("ended by %v", cmd.ProcessState)
			}
			return
		case <-limit:
			t.Fatal("the second signal did not end it")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestErrorIsExitCodeOne(t *testing.T) {
	cmd, _ := helper(t, "fails")
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got %v", err)
	}
}
