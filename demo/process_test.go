package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/internal/toxitest"
)

// TestMain lets the test binary be the demo binary: signals and kill -9 need a process.
func TestMain(m *testing.M) {
	if os.Getenv("BE_THE_DEMO_BINARY") != "" {
		main()
		return
	}
	toxitest.Main(m)
}

// process starts demo as a process of its own and waits for its first line.
func process(t *testing.T, api string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "BE_THE_DEMO_BINARY=1", "TOXIPROXY_URL="+api)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("demo %s said %q: %v", strings.Join(args, " "), line, err)
	}
	return cmd, line
}

func TestFaultsAlwaysEnd(t *testing.T) {
	toxi := toxitest.Start(t)
	client := faults.NewClient(toxi.API, nil)
	getenv := func(name string) string { return map[string]string{"TOXIPROXY_URL": toxi.API}[name] }
	broken := func() int {
		t.Helper()
		list, err := client.Active(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}

	t.Run("by Ctrl-C", func(t *testing.T) {
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
			cmd, line := process(t, toxi.API, "fault", "refuse", "-edge", "one,two", "-for", "1h")
			if !strings.HasPrefix(line, "refuse on one,two until ") || broken() != 2 {
				t.Fatalf("said %q, %d broken", line, broken())
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || broken() != 0 {
				t.Errorf("%v: %v, %d still broken", signal, err, broken())
			}
		}
	})

	t.Run("by the janitor when the tool was killed", func(t *testing.T) {
		cmd, _ := process(t, toxi.API, "fault", "refuse", "-edge", "one", "-for", "1s")
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("was not killed: it ended well")
		}
		if broken() != 1 {
			t.Fatalf("%d broken after the kill, want the test to begin with 1", broken())
		}
		janitor, line := process(t, toxi.API, "janitor") // its first line is about what it ended
		if !strings.Contains(line, `"edge":"one"`) || broken() != 0 {
			t.Errorf("the janitor said %q, %d still broken", line, broken())
		}
		janitor.Process.Signal(syscall.SIGTERM)
		if err := janitor.Wait(); err != nil {
			t.Errorf("the janitor stopped with %v", err)
		}
	})

	t.Run("by demo mend", func(t *testing.T) {
		say := func(args ...string) string {
			t.Helper()
			var out strings.Builder
			if err := run(t.Context(), append([]string{"demo"}, args...), getenv, &out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		say("fault", "hang", "-edge", "one", "-for", "1h", "-detach")
		say("fault", "latency", "-edge", "two", "-for", "1h", "-latency", "1s", "-detach")
		out := say("faults")
		for _, want := range []string{"trickle ", "one    127.0.0.1:8474", "one          hang      in ", "two          latency   in "} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing in\n%s", want, out)
			}
		}
		if out := say("mend", "-edge", "one"); out != "mended one: hang\n" || broken() != 1 {
			t.Errorf("said %q, %d still broken", out, broken())
		}
		if out := say("mend"); out != "mended two: latency\n" || broken() != 0 {
			t.Errorf("said %q, %d still broken", out, broken())
		}
		if out := say("mend"); out != "nothing was broken\n" {
			t.Errorf("said %q", out)
		}
		if out := say("faults"); !strings.Contains(out, "nothing is broken") {
			t.Errorf("said\n%s", out)
		}
	})

	t.Run("when one of several edges cannot be broken", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := run(ctx, []string{"demo", "fault", "hang", "-edge", "one,three"}, getenv, os.Stdout)
		if err == nil || !strings.Contains(err.Error(), "there are one, two") || broken() != 0 {
			t.Errorf("%v, %d broken", err, broken())
		}
	})
}
