package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"watertight.example/demo/faults"
)

// toxiproxyFlag adds -toxiproxy; the compose file sets TOXIPROXY_URL for what runs inside.
func toxiproxyFlag(env environment, fs *flag.FlagSet) *string {
	return fs.String("toxiproxy", cmp.Or(env.getenv("TOXIPROXY_URL"), "http://127.0.0.1:8474"), "`URL` of Toxiproxy's API; default from TOXIPROXY_URL")
}

const faultsIntro = `
demo faults lists every fault there is, the edges it can be set on, and what is broken now and for how long still.

  demo faults`

func runFaults(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("faults", flag.ContinueOnError)
	address, database := toxiproxyFlag(env, fs), databaseFlag(env, fs)
	if err := parse(env, fs, faultsIntro, args); err != nil {
		return help(err)
	}
	tw := tabwriter.NewWriter(env.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "FAULT\tWHAT HAPPENS")
	for _, k := range faults.Kinds() {
		fmt.Fprintf(tw, "%s\t%s\n", k.Name, k.Sentence)
	}
	fmt.Fprintf(tw, "plan-flip\t%s\n", planFlipSentence)
	tw.Flush()

	client := faults.NewClient(*address, nil)
	if _, err := client.Sweep(ctx, time.Now()); err != nil {
		return err
	}
	edges, err := client.Edges(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(tw, "\nEDGE\tLEADS TO")
	for _, name := range slices.Sorted(maps.Keys(edges)) {
		fmt.Fprintf(tw, "%s\t%s\n", name, edges[name].Upstream)
	}
	tw.Flush()
	active, err := client.Active(ctx)
	if err != nil {
		return err
	}
	flipped, err := activeFlip(ctx, database())
	fmt.Fprintln(env.stdout)
	printActive(env.stdout, append(active, flipped...), time.Now())
	return err
}

func printActive(w io.Writer, active []faults.Active, now time.Time) {
	if len(active) == 0 {
		fmt.Fprintln(w, "nothing is broken")
		return
	}
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "BROKEN NOW\tBY\tENDS")
	for _, a := range active {
		ends := "never: not set by demo; demo mend ends it"
		if !a.Until.IsZero() {
			ends = "in " + a.Until.Sub(now).Round(time.Second).String()
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", a.Edge, a.Kind, ends)
	}
	tw.Flush()
}

const faultIntro = `
demo fault breaks an edge of the running shop and mends it when the time is over, or at Ctrl-C. If the command itself is
killed, the janitor ends the fault when its time is over. demo faults lists the faults and the edges. The fault plan-flip has no
edge: demo fault plan-flip -h explains it.

  demo fault latency -edge recommendations-postgres -latency 4.8s -for 60s
  demo fault refuse -edge productpage-pricing,productpage-inventory -for 30s
  demo fault hang -edge redis -detach`

func runFault(ctx context.Context, env environment, args []string) error {
	if len(args) > 0 && (args[0] == "plan-flip" || args[0] == "analyze") {
		return runPlanFlip(ctx, env, args[0], args[1:])
	}
	fs := flag.NewFlagSet("fault", flag.ContinueOnError)
	address := toxiproxyFlag(env, fs)
	edges := fs.String("edge", "", "`name` of the edge to break, or several with commas")
	length := fs.Duration("for", time.Minute, "when it ends by itself, 1s to 1h")
	latency := fs.Duration("latency", 4800*time.Millisecond, "of the fault latency: how late answers arrive")
	detach := fs.Bool("detach", false, "return at once and leave the end to the janitor")
	kind := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		kind, args = args[0], args[1:] // the flag package stops at the first word, and people write it first
	}
	if err := parse(env, fs, faultIntro, args); err != nil {
		return help(err)
	}
	if kind == "" || *edges == "" {
		return errors.New("say which fault and on which edge, like demo fault latency -edge redis (demo faults lists both)")
	}

	client := faults.NewClient(*address, nil)
	var set []faults.Active
	for _, edge := range strings.Split(*edges, ",") {
		a, err := client.Set(ctx, faults.Fault{Kind: kind, Edge: strings.TrimSpace(edge), For: *length, Latency: *latency})
		if err != nil {
			stopped, cancel := context.WithCancel(ctx)
			cancel()
			_, mendErr := client.Hold(stopped, set) // all or nothing: ends those already set
			return errors.Join(err, mendErr)
		}
		set = append(set, a)
	}
	fmt.Fprintf(env.stdout, "%s on %s until %s", kind, *edges, set[0].Until.Format(time.TimeOnly))
	if *detach {
		fmt.Fprintln(env.stdout, "; the janitor ends it then, demo mend earlier")
		return nil
	}
	fmt.Fprintln(env.stdout, "; Ctrl-C mends")
	early, err := client.Hold(ctx, set)
	if err != nil {
		return fmt.Errorf("could not mend (the janitor will, when the time is over): %w", err)
	}
	if early {
		fmt.Fprintln(env.stdout, "ended by somebody else")
	} else {
		fmt.Fprintln(env.stdout, "mended")
	}
	return nil
}

const mendIntro = `
demo mend ends every fault, whoever set it and for however long, a flipped plan as well; with -edge only those on the named edges.

  demo mend
  demo mend -edge recommendations-postgres`

func runMend(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("mend", flag.ContinueOnError)
	address, database := toxiproxyFlag(env, fs), databaseFlag(env, fs)
	edge := fs.String("edge", "", "`name` of the edge to mend, or several with commas; all by default")
	if err := parse(env, fs, mendIntro, args); err != nil {
		return help(err)
	}
	var edges []string
	if *edge != "" {
		edges = strings.Split(*edge, ",")
	}
	ended, err := faults.NewClient(*address, nil).Mend(ctx, edges...)
	for _, a := range ended {
		fmt.Fprintf(env.stdout, "mended %s: %s\n", a.Edge, a.Kind)
	}
	flipped := false
	if *edge == "" {
		var flipErr error
		flipped, flipErr = mendFlip(ctx, env.stdout, database())
		err = errors.Join(err, flipErr)
	}
	if err == nil && len(ended) == 0 && !flipped {
		fmt.Fprintln(env.stdout, "nothing was broken")
	}
	return err
}
