package main

import (
	"context"
	"flag"
	"log/slog"

	"watertight.example/demo/faults"
)

const janitorIntro = `
demo janitor ends every fault whose time is over, also when the command that set it was killed. It looks every second,
logs what it ends as JSON, and runs until it is stopped. The compose file starts one; more than one do no harm.

  demo janitor -toxiproxy http://toxiproxy:8474`

func runJanitor(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("janitor", flag.ContinueOnError)
	address := toxiproxyFlag(env, fs)
	if err := parse(env, fs, janitorIntro, args); err != nil {
		return help(err)
	}
	log := slog.New(slog.NewJSONHandler(env.stdout, nil)).With("service", "janitor")
	faults.NewClient(*address, nil).Janitor(ctx,
		func(a faults.Active) {
			log.Info("fault ended, its time was over", "edge", a.Edge, "fault", a.Kind, "until", a.Until)
		},
		func(err error) { log.Warn("cannot look for expired faults", "cause", err.Error()) })
	return nil
}
