package service

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main calls run with the process's arguments, environment and output. The context ends at SIGINT or SIGTERM. An error is
// printed to stderr and makes the exit code 1.
//
// After the first signal the default action is restored, so a second one ends the process at once: whoever sends it has
// decided not to wait for the drain.
func Main(run func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
