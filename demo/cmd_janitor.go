package main

import (
	"context"
	"flag"
	"log/slog"
	"sync"

	"watertight.example/demo/faults"
	"watertight.example/demo/planflip"
)

const janitorIntro = `
demo janitor ends every fault whose time is over, also when the command that set it was killed. It looks every second,
logs what it ends as JSON, and runs until it is stopped. The compose file starts one; more than one do no harm. It looks for
flipped plans where it is told of a database. With -listen it tells Prometheus what is broken at the moment, as chaos_fault_active.

  demo janitor -toxiproxy http://toxiproxy:8474`

func runJanitor(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("janitor", flag.ContinueOnError)
	address, database := toxiproxyFlag(env, fs), databaseFlag(env, fs)
	listen := fs.String("listen", "", "`address` to serve /metrics at; empty: nowhere")
	if err := parse(env, fs, janitorIntro, args); err != nil {
		return help(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := slog.New(slog.NewJSONHandler(env.stdout, nil)).With("service", "janitor")
	var beside sync.WaitGroup // a database that hangs must not keep edges broken
	var plans planflip.DB
	edges := faults.NewClient(*address, nil)
	if url := database(); url != "" {
		db, err := planflip.Open(url)
		if err != nil {
			return err
		}
		defer db.Close()
		plans = db
		beside.Go(func() {
			planflip.Janitor(ctx, db,
				func() { log.Info("plan flip ended by ANALYZE, its time was over") },
				func(err error) { log.Warn("cannot look for expired plan flips", "cause", err.Error()) })
		})
	}
	var served error
	if *listen != "" {
		beside.Go(func() {
			if served = newGauge(edges, plans).serve(ctx, *listen); served != nil {
				cancel()
			}
		})
	}
	edges.Janitor(ctx,
		func(a faults.Active) {
			log.Info("fault ended, its time was over", "edge", a.Edge, "fault", a.Kind, "until", a.Until)
		},
		func(err error) { log.Warn("cannot look for expired faults", "cause", err.Error()) })
	cancel()
	beside.Wait()
	return served
}
