package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"watertight.example/demo/incident"
)

const incidentIntro = `
demo incident plays a story on the running shop, with visitors on both product pages, judges how the pages came through it, and
writes a report. Ctrl-C mends and reports what there is. It exits with 1 when a promise is broken.
  demo incident opening                             the database of recommendations becomes slow
  demo incident opening -only-shop -out /tmp        without the naive twin
  demo incident opening -shop http://productpage:8080 -naive http://productpage-naive:8080 -internal http://productpage:9090
                                                    inside compose, where the page's breaker can be read`

// incidentOptions is what the flags of demo incident say beyond incident.Config.
type incidentOptions struct {
	incident.Config
	name, edges, out string
	times            incident.Times
}

func runIncident(ctx context.Context, env environment, args []string) error {
	opt, err := parseIncident(env, args)
	if err != nil {
		return help(err)
	}
	if opt.name != "opening" {
		return fmt.Errorf("there is no incident %q; there is opening", opt.name)
	}
	if err := writable(opt.out); err != nil {
		return err
	}
	report, err := incident.Run(ctx, incident.Opening(opt.times, strings.Split(opt.edges, ",")...), opt.Config)
	if report.Began.IsZero() {
		return err
	}
	report.Print(env.stdout)
	path, saveErr := save(report, opt.out)
	if saveErr == nil {
		fmt.Fprintf(env.stdout, "report: %s, and the same figures as .json beside it\n", path)
	}
	if err = errors.Join(err, saveErr); err != nil {
		return err
	}
	return shortcoming(report)
}

// shortcoming is why a script must not take the incident for a success; nil when every promise was put to the test, as far
// as it could be seen, and kept.
func shortcoming(report incident.Report) error {
	if broken := len(report.Broken()); broken > 0 {
		return fmt.Errorf("%d of %d promises broken", broken, len(report.Verdicts))
	}
	if report.Stopped {
		return errors.New("stopped early: not every promise was put to the test")
	}
	return nil
}

func parseIncident(env environment, args []string) (incidentOptions, error) {
	opt := incidentOptions{Config: incident.Config{Terminal: env.stdout, Naive: new(incident.Twin)}}
	fs := flag.NewFlagSet("incident", flag.ContinueOnError)
	fs.StringVar(&opt.Protected.Target, "shop", "http://127.0.0.1:18080", "base `URL` of the protected page")
	fs.StringVar(&opt.Naive.Target, "naive", "http://127.0.0.1:18081", "base `URL` of its naive twin")
	fs.StringVar(&opt.Protected.Internal, "internal", "", "base `URL` of the protected page's internal listener; without it the breaker stays unknown")
	fs.StringVar(&opt.Naive.Internal, "naive-internal", "", "the same of the naive twin, whose goroutines are then shown")
	onlyShop := fs.Bool("only-shop", false, "look at the protected page alone")
	fs.IntVar(&opt.Rate, "rate", 25, "requests per second on each page")
	fs.DurationVar(&opt.times.Baseline, "baseline", 10*time.Second, "how long both pages are watched before the fault")
	fs.DurationVar(&opt.times.Fault, "fault", 30*time.Second, "how long the fault lasts")
	fs.DurationVar(&opt.times.Recovery, "recovery", 45*time.Second, "how long both are watched after the mend")
	fs.DurationVar(&opt.OpenFor, "open-for", 30*time.Second, "how long the page's breaker stays open (its RECOMMENDATIONS_OPEN_FOR)")
	fs.StringVar(&opt.edges, "edge", "recommendations-postgres", "`name` of the edge that becomes slow, or several with commas")
	fs.StringVar(&opt.out, "out", ".", "`directory` for the report, which is incident-NAME.html and .json")
	fs.BoolVar(&opt.OwnHost, "i-own-this-host", false, "accept any page: you answer for the load on it")
	toxiproxy := toxiproxyFlag(env, fs)
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		opt.name, args = args[0], args[1:] // the flag package stops at the first word, and people write it first
	}
	err := parse(env, fs, incidentIntro, args)
	opt.Toxiproxy = *toxiproxy
	if *onlyShop {
		opt.Naive = nil
	}
	if err == nil && opt.name == "" {
		err = errors.New("say which incident: demo incident opening (demo incident -h explains)")
	}
	return opt, err
}

// writable says now, and not after the minutes that an incident takes, that a report could not be written.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".incident-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// save writes the report's two files and gives the path of the one for people.
func save(report incident.Report, dir string) (string, error) {
	var page, figures bytes.Buffer
	if err := errors.Join(report.WriteHTML(&page), report.WriteJSON(&figures)); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "incident-"+report.Incident)
	return path + ".html", errors.Join(
		os.WriteFile(path+".html", page.Bytes(), 0o644),
		os.WriteFile(path+".json", figures.Bytes(), 0o644))
}
