package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/incident"
	"watertight.example/demo/internal/toxitest"
)

func TestABrokenPromiseIsAnError(t *testing.T) {
	kept := incident.Verdict{ID: "heals", Protected: incident.Finding{Result: incident.Pass}, Naive: incident.Finding{Result: incident.Fail}}
	stands := incident.Verdict{ID: "collapses", ByNaive: true, Naive: incident.Finding{Result: incident.Fail}}
	unseen := incident.Verdict{ID: "opens", Protected: incident.Finding{Result: incident.NotMeasured}}
	for _, c := range []struct {
		report incident.Report
		want   string
	}{
		{incident.Report{Verdicts: []incident.Verdict{kept, unseen}}, ""},
		{incident.Report{Verdicts: []incident.Verdict{kept, stands}}, "1 of 2 promises broken"},
		{incident.Report{Verdicts: []incident.Verdict{kept, unseen}, Stopped: true}, "stopped early"},
	} {
		if err := shortcoming(c.report); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.report, err, c.want)
		}
	}
}

func TestReportIsTwoFiles(t *testing.T) {
	dir := t.TempDir() + "/new"
	if err := writable(dir); err != nil {
		t.Fatal(err)
	}
	path, err := save(incident.Report{Incident: "opening", Title: "The opening incident", Began: time.Now()}, dir)
	if err != nil || path != dir+"/incident-opening.html" {
		t.Fatal(path, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 || files[0].Name() != "incident-opening.html" || files[1].Name() != "incident-opening.json" {
		t.Error(files, err)
	}
	if page, err := os.ReadFile(path); err != nil || !strings.Contains(string(page), "<h1>The opening incident</h1>") {
		t.Errorf("%v\n%s", err, page)
	}
}

func TestOnlyShopForgetsTheTwin(t *testing.T) {
	opt, err := parseIncident(environment{func(string) string { return "" }, io.Discard}, []string{"opening", "-only-shop", "-naive", "http://naive"})
	if err != nil || opt.Naive != nil || opt.name != "opening" || opt.Toxiproxy != "http://127.0.0.1:8474" {
		t.Errorf("%+v, %v", opt, err)
	}
}

// A naive page that does not collapse breaks a promise: nothing was shown.
func TestABrokenPromiseIsExitCodeOne(t *testing.T) {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.Header.Get("Accept") == "" {
			w.Header().Set("Content-Type", "text/plain")
		}
		fmt.Fprintf(w, `<input name="q"><a href="/products/7"></a>%s</html>`, r.URL.Path)
	}))
	defer shop.Close()
	toxi := toxitest.Start(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "incident", "opening", "-shop", shop.URL, "-naive", shop.URL, "-edge", "one",
		"-baseline", "1s", "-fault", "1s", "-recovery", "1s", "-out", t.TempDir())
	cmd.Env = append(os.Environ(), "BE_THE_DEMO_BINARY=1", "TOXIPROXY_URL="+toxi.API)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "promises broken") {
		t.Errorf("%v\n%s", err, out)
	}
}
