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
flipped plans where it is told of a database.

  demo janitor -toxiproxy http://toxiproxy:8474`

func runJanitor(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("janitor", flag.ContinueOnError)
	address, database := toxiproxyFlag(env, fs), databaseFlag(env, fs)
	if err := parse(env, fs, janitorIntro, args); err != nil {
		return help(err)
	}
	log := slog.New(slog.NewJSONHandler(env.stdout, nil)).With("service", "janitor")
	if url := database(); url != "" {
		db, err := planflip.Open(url)
		if err != nil {
			return err
		}
		var looking sync.WaitGroup
		defer func() { looking.Wait(); db.Close() }()
		looking.Go(func() { // beside the other: a database that hangs must not keep edges broken
			planflip.Janitor(ctx, db,
				func() { log.Info("plan flip ended by ANALYZE, its time was over") },
				func(err error) { log.Warn("cannot look for expired plan flips", "cause", err.Error()) })
		})
	}
	faults.NewClient(*address, nil).Janitor(ctx,
		func(a faults.Active) {
			log.Info("fault ended, its time was over", "edge", a.Edge, "fault", a.Kind, "until", a.Until)
		},
		func(err error) { log.Warn("cannot look for expired faults", "cause", err.Error()) })
	return nil
}
