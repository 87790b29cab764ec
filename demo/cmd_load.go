package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"watertight.example/demo/load"
)

const loadIntro = `
demo load sends visitors to the shop at a steady rate, however slow the shop becomes (open loop), and says at the
end how many got a full page, a degraded one, or none. It waits until the shop is ready.

  demo load -rate 25 -duration 1m                   a minute by hand, a line each second
  demo load -json -fail-on-error                    for scripts: JSON at the end, exit 1 when anything failed
  demo load -target http://productpage:8080 -duration 0     in compose: until stopped, a JSON log line each 10 s

A load generator pointed at somebody else's machine is an attack. Therefore -target takes this machine and names
without dots (compose services) only, unless you say that the host is yours.`

// loadOptions is what the flags of demo load say beyond load.Config.
type loadOptions struct {
	load.Config
	json, failOnError bool
}

func runLoad(ctx context.Context, env environment, args []string) error {
	opt, err := parseLoad(env, args)
	if err != nil {
		return help(err)
	}
	finish := narrate(env.stdout, &opt)
	summary, err := load.Run(ctx, opt.Config)
	if err != nil {
		return err
	}
	if err := finish(summary); err != nil {
		return err
	}
	if failed := summary.Failed.Count; opt.failOnError && (failed > 0 || summary.Requests == 0) {
		return fmt.Errorf("%d of %d requests failed", failed, summary.Requests)
	}
	return nil
}

func parseLoad(env environment, args []string) (loadOptions, error) {
	opt := loadOptions{Config: load.Config{Mix: load.DefaultMix()}}
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	fs.StringVar(&opt.Target, "target", "http://127.0.0.1:18080", "base `URL` of the shop")
	fs.Func("after", "base `URLs`, with commas between, of services that get a minute to be ready, too, before the first visitor comes", func(list string) error {
		opt.After = strings.Split(list, ",")
		return nil
	})
	fs.IntVar(&opt.Rate, "rate", 10, "requests per second")
	fs.DurationVar(&opt.Duration, "duration", 30*time.Second, "how long; 0 = until stopped")
	fs.DurationVar(&opt.Timeout, "timeout", 10*time.Second, "longest wait for one answer; later is a failure")
	fs.Var(&opt.Mix, "mix", "weights of the visits; buy is a real purchase")
	fs.Uint64Var(&opt.Seed, "seed", 1, "the same seed draws the same visits in the same order")
	fs.BoolVar(&opt.json, "json", false, "print nothing but the summary, as JSON")
	fs.BoolVar(&opt.failOnError, "fail-on-error", false, "exit 1 when a request failed, or none was made")
	fs.BoolVar(&opt.OwnHost, "i-own-this-host", false, "accept any target: you answer for the load on it")
	return opt, parse(env, fs, loadIntro, args)
}

// narrate chooses how the run speaks and returns how it ends: JSON only, lines for a person at a terminal, log lines
// where it runs for ever unwatched (a container), and just the summary for a pipe.
func narrate(w io.Writer, opt *loadOptions) (finish func(load.Summary) error) {
	switch {
	case opt.json:
		return func(s load.Summary) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(s)
		}
	case !isTerminal(w) && opt.Duration == 0:
		log := slog.New(slog.NewJSONHandler(w, nil)).With("service", "load", "target", opt.Target)
		opt.Every = 10 * time.Second
		opt.Progress = func(win load.Window) { logWindow(log, win) }
		opt.Waiting = func(err error) { log.Info("waiting for the target", "cause", err.Error()) }
		return func(s load.Summary) error { log.Info("summary", "summary", s); return nil }
	case isTerminal(w):
		opt.Every = time.Second
		opt.Progress = func(win load.Window) { printWindow(w, win) }
	}
	opt.Waiting = func(err error) { fmt.Fprintf(w, "waiting for %s: %v\n", opt.Target, err) }
	return func(s load.Summary) error { s.Print(w); return nil }
}

// printWindow writes one line per second and never rewrites it: scrolled back, the lines are the incident's history.
func printWindow(w io.Writer, win load.Window) {
	total := max(1, win.Full+win.Degraded+win.Failed)
	line := fmt.Sprintf("%5.0fs %5.0f/s  p50 %5d ms  p95 %5d ms  degraded %3.0f %%  failed %3d  in flight %3d",
		win.Elapsed.Seconds(), win.Rate, win.P50.Milliseconds(), win.P95.Milliseconds(),
		100*float64(win.Degraded)/float64(total), win.Failed, win.InFlight)
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

func logWindow(log *slog.Logger, win load.Window) {
	level := slog.LevelInfo
	if win.Failed > 0 {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "load", "rate", win.Rate, "full", win.Full, "degraded", win.Degraded, "failed", win.Failed,
		"p50_ms", win.P50.Milliseconds(), "p95_ms", win.P95.Milliseconds(), "max_ms", win.Max.Milliseconds(),
		"in_flight", win.InFlight, "parts", win.Parts, "causes", win.Causes)
}
