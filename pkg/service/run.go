package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Run is a service's whole life, from its arguments (os.Args) to the end of its drain. It returns when ctx ends and everything
// is stopped, or with the reason why it could not run: bad arguments or configuration, a port in use, an error of Build.
// Addresses with port 0 work; the line "listening" in the log tells the ports.
func Run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer, p Program) error {
	command, err := parseArgs(args, p.Name)
	if errors.Is(err, flag.ErrHelp) {
		return writeHelp(stdout, p)
	}
	if err != nil {
		return err
	}
	if err := Load(p.Config, getenv); err != nil {
		return err
	}
	if command == "healthcheck" {
		return healthcheck(ctx, p.Config.Common().PublicAddr)
	}
	return serve(ctx, p, newLogger(stdout, p.Name, p.Config.Common().LogLevel))
}

// parseArgs returns the command: "" to serve, or "healthcheck".
func parseArgs(args []string, name string) (string, error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	if err := flags.Parse(args[min(1, len(args)):]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return "", err
		}
		return "", fmt.Errorf("%s: %w; knobs are environment variables, -h lists them", name, err)
	}
	switch rest := flags.Args(); {
	case len(rest) == 0:
		return "", nil
	case len(rest) == 1 && rest[0] == "healthcheck":
		return rest[0], nil
	default:
		return "", fmt.Errorf("%s: unknown command %q; the only one is healthcheck, -h tells more", name, strings.Join(rest, " "))
	}
}

// serve builds the service, opens its ports, and lives until ctx ends.
func serve(ctx context.Context, p Program, log *slog.Logger) error {
	logConfig(log, p.Config)
	s := newService(p, log)
	if without := s.base.Without; without != "" {
		log.Warn("RUNNING WITHOUT A PATTERN, for a demonstration: promises will be broken", "without", without)
	}
	if err := s.startTraces(); err != nil {
		return err
	}
	if err := p.Build(s); err != nil {
		return errors.Join(fmt.Errorf("build %s: %w", p.Name, err), s.runStops())
	}
	if err := errors.Join(s.checkBudgets(), s.http.prepare(s.root)); err != nil {
		return errors.Join(fmt.Errorf("build %s: %w", p.Name, err), s.runStops())
	}
	public, internal, err := s.base.listen()
	if err != nil {
		return errors.Join(err, s.runStops())
	}
	return s.live(ctx, public, internal)
}
