package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// environment is what a subcommand may touch of the process it runs in.
type environment struct {
	getenv func(string) string
	stdout io.Writer
}

// command is one subcommand: its name, a sentence for the list, and what it does with the arguments after its name.
type command struct {
	name, summary string
	run           func(ctx context.Context, env environment, args []string) error
}

func commands() []command {
	return []command{
		{"load", "sends visitors to the shop at a steady rate and says what they got", runLoad},
		{"faults", "lists the faults there are, and what is broken now", runFaults},
		{"fault", "breaks an edge of the shop for a while", runFault},
		{"mend", "ends all faults at once", runMend},
		{"incident", "plays a story on the shop, judges it, and writes a report", runIncident},
		{"control", "serves the control room: a page to break the shop from, and to watch it", runControl},
		{"healthcheck", "asks the control room whether it is well", runHealthcheck},
		{"audit", "reads the shop's databases and says whether orders, stock and events add up", runAudit},
		{"janitor", "ends every fault whose time is over", runJanitor},
	}
}

// run is the whole program: args as in os.Args, everything it prints goes to stdout. It returns when the
// subcommand is done or ctx ends; the error is for a person to read.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	name := "-h"
	if len(args) > 1 {
		name, args = args[1], args[2:]
	}
	switch name {
	case "-h", "-help", "--help", "help":
		usage(stdout)
		return nil
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, environment{getenv, stdout}, args)
		}
	}
	return fmt.Errorf("there is no subcommand %q (demo -h lists them)", name)
}

func usage(w io.Writer) {
	fmt.Fprint(w, "demo moves the shop, breaks it and watches it heal.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  demo %-11s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nEach explains itself: demo load -h\n")
}

// errHelp says that -h was asked for and answered; the subcommand has nothing more to do.
var errHelp = errors.New("help was printed")

// parse reads flags into fs. intro is what -h prints above the list of flags: a sentence and an example.
// It returns errHelp after -h, and an error that names the way to the help after anything it cannot read.
func parse(env environment, fs *flag.FlagSet, intro string, args []string) error {
	fs.SetOutput(io.Discard) // the flag package would print its complaint and the whole help; one line is enough
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(env.stdout, "%s\n\nFlags:\n", strings.TrimSpace(intro))
		fs.SetOutput(env.stdout)
		fs.PrintDefaults()
		return errHelp
	case err != nil:
		return fmt.Errorf("%w (demo %s -h explains)", err, fs.Name())
	case fs.NArg() > 0:
		return fmt.Errorf("%q is one word too many (demo %s -h explains)", fs.Arg(0), fs.Name())
	}
	return nil
}

// help turns errHelp into success: nothing went wrong, and there is nothing more to do.
func help(err error) error {
	if errors.Is(err, errHelp) {
		return nil
	}
	return err
}

// isTerminal reports whether a person is watching: a terminal gets lines to read, a pipe or a container's log does not.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
