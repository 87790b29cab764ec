package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/load"
)

// demo runs the program with args and gives what it printed.
func demo(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), append([]string{"demo"}, args...), func(string) string { return "" }, &out)
	return out.String(), err
}

func TestHelpExplainsEverySubcommandWithAnExample(t *testing.T) {
	for _, args := range [][]string{nil, {"-h"}, {"help"}, {"--help"}} {
		out, err := demo(t, args...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		for _, c := range commands() {
			if !strings.Contains(out, "demo "+c.name) || !strings.Contains(out, c.summary) {
				t.Errorf("%v does not list %s:\n%s", args, c.name, out)
			}
		}
	}
	for _, c := range commands() {
		out, err := demo(t, c.name, "-h")
		if err != nil || !strings.Contains(out, "demo "+c.name) || !strings.Contains(out, "Flags:") || !strings.Contains(out, "\n  demo ") {
			t.Errorf("%s -h: %v\n%s", c.name, err, out)
		}
	}
}

func TestMistakesNameTheWayOut(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"lod", "demo -h"},
		{"load -rats 3", "demo load -h"},
		{"load now", `"now"`},
		{"load -mix steal=1", "there are browse, search, product"},
		{"load -rate 0", "between 1 and 2000"},
		{"load -target http://shop.example.com", "-i-own-this-host"},
		{"fault", "demo fault latency -edge redis"},
		{"audit -orders postgres://127.0.0.1:1/x -inventory postgres://127.0.0.1:1/x -recommendations postgres://127.0.0.1:1/x", "the database of"},
		{"fault hang", "demo faults lists both"},
		{"fault hang -edge redis -toxiproxy http://127.0.0.1:1", "connection refused"},
		{"fault plan-flip", "deploy/compose.sh run --rm janitor fault plan-flip"},
		{"fault plan-flip -edge redis", "demo fault plan-flip -h"},
		{"fault analyze -recommendations postgres://127.0.0.1:1/x", "connection refused"},
		{"fault plan-flip -recommendations nonsense", "the database of recommendations"},
		{"incident", "demo incident opening"},
		{"incident closing", "there are opening, outage"},
		{"incident opening -fault 1m now", `"now"`},
		{"incident opening -out /dev/null/reports", "/dev/null"},
		{"incident opening -out " + t.TempDir() + " -fault 0s", "between 1s and"},
		{"incident opening -out " + t.TempDir() + " -naive http://shop.example.com -shop http://127.0.0.1:1", "connection refused"},
		{"mend everything", `"everything"`},
		{"mend -toxiproxy http://127.0.0.1:1", "connection refused"},
	} {
		out, err := demo(t, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("demo %s: %v, want a word about %s", c.args, err, c.want)
		}
		if out != "" {
			t.Errorf("demo %s printed %q beside its error", c.args, out)
		}
	}
}

// window is a shop that has nothing but product pages, and answers every other one of them with status.
func window(t *testing.T, status int) string {
	n := make(chan int, 1)
	n <- 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			return
		}
		i := <-n
		n <- i + 1
		w.Header().Set("Content-Type", "text/html")
		if i%2 == 1 {
			w.WriteHeader(status)
		}
		fmt.Fprintf(w, "/pictures/%s.svg</html>", strings.TrimPrefix(r.URL.Path, "/products/"))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestLoadAgainstAHealthyShop(t *testing.T) {
	args := []string{"load", "-target", window(t, 200), "-rate", "200", "-duration", "100ms", "-timeout", "1m", "-mix", "product=1", "-fail-on-error"}
	out, err := demo(t, args...)
	if err != nil || !strings.Contains(out, "100.0 %") || strings.Contains(out, "failed by") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = demo(t, append(args, "-json")...)
	var s load.Summary
	if jsonErr := json.Unmarshal([]byte(out), &s); err != nil || jsonErr != nil || s.Full.Count == 0 || s.Full.Count != s.Requests {
		t.Errorf("%v, %v\n%s", err, jsonErr, out)
	}
}

func TestFailuresAreAnErrorOnlyWhenAskedFor(t *testing.T) {
	args := []string{"load", "-target", window(t, 500), "-rate", "200", "-duration", "100ms", "-timeout", "1m", "-mix", "product=1"}
	if out, err := demo(t, args...); err != nil || !strings.Contains(out, "failed by: status 500") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := demo(t, append(args, "-fail-on-error")...); err == nil || !strings.Contains(err.Error(), "requests failed") {
		t.Errorf("-fail-on-error: %v", err)
	}
}

func TestContainersGetOneJSONLinePerTenSeconds(t *testing.T) {
	var out strings.Builder
	opt, err := parseLoad(environment{stdout: io.Discard}, []string{"-duration", "0"})
	if err != nil {
		t.Fatal(err)
	}
	finish := narrate(&out, &opt)
	if opt.Every != 10*time.Second {
		t.Errorf("a line every %v", opt.Every)
	}
	opt.Waiting(errors.New("not yet"))
	opt.Progress(load.Window{Rate: 10, P95: 12 * time.Millisecond, Full: 99, Failed: 1, Causes: map[string]int{"timeout": 1}})
	if err := finish(load.Summary{Requests: 100}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{`"cause":"not yet"`, `"level":"WARN"`, `"requests":100`} {
		if len(lines) != 3 || !json.Valid([]byte(lines[i])) || !strings.Contains(lines[i], want) {
			t.Fatalf("want 3 JSON lines, line %d with %s; got\n%s", i, want, out.String())
		}
	}
	if !strings.Contains(lines[1], `"p95_ms":12`) || !strings.Contains(lines[1], `"causes":{"timeout":1}`) {
		t.Errorf("got %s", lines[1])
	}
}

func TestPipesGetTheSummaryOnly(t *testing.T) {
	opt, err := parseLoad(environment{stdout: io.Discard}, nil)
	if err != nil {
		t.Fatal(err)
	}
	narrate(io.Discard, &opt)
	if opt.Every != 0 || opt.Progress != nil {
		t.Error("a pipe gets a progress line")
	}
}

func TestProgressLineShowsWhatMatters(t *testing.T) {
	var out strings.Builder
	printWindow(&out, load.Window{Elapsed: 7 * time.Second, Rate: 10, P50: 12 * time.Millisecond, P95: 480 * time.Millisecond, Full: 6, Degraded: 3, Failed: 1, InFlight: 4})
	if got, want := out.String(), "    7s    10/s  p50    12 ms  p95   480 ms  degraded  30 %  failed   1  in flight   4\n"; got != want {
		t.Errorf("\n%q\n%q", got, want)
	}
}

func TestStoppedWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := run(ctx, []string{"demo", "load", "-target", "http://127.0.0.1:1"}, func(string) string { return "" }, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "before the target was ready") {
		t.Errorf("got %v", err)
	}
}
