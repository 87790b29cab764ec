// Command demo is everything that makes the shop move and break: load now, faults and incidents beside it.
// It knows the shop only from outside, by HTTP and Toxiproxy's API, like anybody else.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// SIGHUP is a closed terminal window: a fault set from it must be mended like after Ctrl-C.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // the second signal finds the default handler and ends the process at once
	if err := run(ctx, os.Args, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
