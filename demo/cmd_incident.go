package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"watertight.example/demo/incident"
	"watertight.example/demo/planflip"
)

const incidentIntro = `
demo incident plays a story on the running shop, with visitors on both product pages, judges how the pages came through it, and
writes a report. Ctrl-C mends and reports what there is. It exits with 1 when a promise is broken.
  demo incident opening                             the database of recommendations becomes slow
  demo incident opening -only-shop -out /tmp        without the naive twin
  demo incident opening -shop http://productpage:8080 -naive http://productpage-naive:8080 -internal http://productpage:9090
                                                    inside compose, where the page's breaker can be read
  scripts/incident.sh outage -speed 1               any story, with everything it needs, from outside
  scripts/incident.sh outage -without breaker       the shop without one of its patterns; the exit code says only that it was played`

// incidentOptions is what the flags of demo incident say beyond incident.Config.
type incidentOptions struct {
	incident.Config
	incident.Options
	name, out, database, engine string
}

func runIncident(ctx context.Context, env environment, args []string) error {
	opt, err := parseIncident(env, args)
	if err != nil {
		return help(err)
	}
	story, ok := incident.Find(opt.name, opt.Options)
	if !ok {
		return fmt.Errorf("there is no incident %q; there are %s", opt.name, strings.Join(incidentNames(), ", "))
	}
	if err := writable(opt.out); err != nil {
		return err
	}
	if opt.database != "" {
		db, err := planflip.Open(opt.database)
		if err != nil {
			return err
		}
		defer db.Close()
		opt.Plans = db
	}
	if opt.engine != "" {
		opt.Engine = newEngine(opt.engine, env.getenv("COMPOSE_PROJECT_NAME"))
	}
	report, err := incident.Run(ctx, story, opt.Config)
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
	if opt.Without != "" {
		return compare(env.stdout, opt.out, opt.name)
	}
	return shortcoming(report)
}

func incidentNames() (names []string) {
	for _, s := range incident.All() {
		names = append(names, s.Name)
	}
	return names
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
	inside := fs.String("inside", "", "internal listeners of other services, like inventory=http://inventory:9090, with commas")
	fs.Float64Var(&opt.Speed, "speed", 10, "how much faster than in the article time passes in all stories but opening; conditions and timeouts stay real")
	fs.StringVar(&opt.Without, "without", "", "the `pattern` that the shop was started without (RESILIENCE_WITHOUT); scripts/incident.sh restarts the shop for it")
	fs.StringVar(&opt.engine, "engine", "", "`path` of the container engine's socket, for stories that kill containers")
	database := databaseFlag(env, fs)
	fs.DurationVar(&opt.Times.Baseline, "baseline", 10*time.Second, "how long both pages are watched before the fault")
	fs.DurationVar(&opt.Times.Fault, "fault", 30*time.Second, "how long the fault lasts")
	fs.DurationVar(&opt.Times.Recovery, "recovery", 45*time.Second, "how long both are watched after the mend")
	fs.DurationVar(&opt.OpenFor, "open-for", 30*time.Second, "how long the page's breaker stays open (its RECOMMENDATIONS_OPEN_FOR)")
	edges := fs.String("edge", "recommendations-postgres", "`name` of the edge that becomes slow, or several with commas")
	fs.StringVar(&opt.out, "out", ".", "`directory` for the report, which is incident-NAME.html and .json")
	fs.BoolVar(&opt.OwnHost, "i-own-this-host", false, "accept any page: you answer for the load on it")
	toxiproxy := toxiproxyFlag(env, fs)
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		opt.name, args = args[0], args[1:] // the flag package stops at the first word, and people write it first
	}
	err := parse(env, fs, incidentIntro, args)
	opt.Toxiproxy, opt.Edges, opt.database = *toxiproxy, strings.Split(*edges, ","), database()
	opt.Inside, opt.Books = pairs(*inside), books(env)
	if err == nil && !(opt.Speed >= 0.1 && opt.Speed <= 100) {
		err = fmt.Errorf("speed %g is not between 0.1 and 100", opt.Speed)
	}
	if *onlyShop {
		opt.Naive = nil
	}
	if err == nil && opt.name == "" {
		err = errors.New("say which incident: demo incident opening (demo incident -h explains)")
	}
	return opt, err
}
