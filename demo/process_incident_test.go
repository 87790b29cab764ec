package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/internal/toxitest"
)

// shopThatIsWell is enough of a shop for visitors, and nothing that happens to Toxiproxy concerns it.
func shopThatIsWell(t *testing.T) string {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.Header.Get("Accept") == "" {
			w.Header().Set("Content-Type", "text/plain")
		}
		fmt.Fprintf(w, `<input name="q"><a href="/products/7"></a>%s</html>`, r.URL.Path)
	}))
	t.Cleanup(shop.Close)
	return shop.URL
}

// incidentProcess is demo incident as a process of its own: exit codes and signals need one.
func incidentProcess(t *testing.T, api string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"incident", "opening", "-shop", shopThatIsWell(t), "-edge", "one", "-baseline", "1s", "-recovery", "1s"}, args...)...)
	cmd.Env = append(os.Environ(), "BE_THE_DEMO_BINARY=1", "TOXIPROXY_URL="+api)
	return cmd
}

// A naive page that does not collapse breaks a promise: nothing was shown.
func TestABrokenPromiseIsExitCodeOne(t *testing.T) {
	toxi := toxitest.Start(t)
	out, err := incidentProcess(t, toxi.API, "-naive", shopThatIsWell(t), "-fault", "1s", "-out", t.TempDir()).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "promises broken") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Whoever has seen enough presses Ctrl-C: what was broken is mended, there is a report, and a script does not take it for a success.
func TestCtrlCMendsAnIncidentAndReports(t *testing.T) {
	toxi, dir := toxitest.Start(t), t.TempDir()
	client := faults.NewClient(toxi.API, nil)
	broken := func() int {
		list, err := client.Active(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	cmd := incidentProcess(t, toxi.API, "-only-shop", "-fault", "30m", "-out", dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := bufio.NewScanner(stdout)
	for !strings.Contains(out.String(), "--- fault") || !strings.Contains(out.String(), "   2s  |") { // a line of progress in the fault
		if !lines.Scan() {
			t.Fatalf("it ended: %v\n%s", lines.Err(), out.String())
		}
		fmt.Fprintln(&out, lines.Text())
	}
	for deadline := time.Now().Add(20 * time.Second); broken() == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was broken")
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		fmt.Fprintln(&out, lines.Text())
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || broken() != 0 {
		t.Errorf("%v, %d still broken", err, broken())
	}
	for _, want := range []string{"--- baseline", "   1s  |  protected p95", "--- fault", "   2s  |  protected p95", "The incident was stopped early.", "report: " + dir} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	file, err := os.ReadFile(dir + "/incident-opening.json")
	if err != nil || !strings.Contains(string(file), `"stopped_early":true`) {
		t.Errorf("%v\n%.300s", err, file)
	}
}
