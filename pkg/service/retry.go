package service

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"time"
)

// Start-up and worker retries: 100 ms first, so that a store a moment late costs nothing; at most 2 s, so that a store 20 s
// late delays readiness by a tenth of that; jitter, so that replicas that failed together do not try again together.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 2 * time.Second
	retryReset = 10 * time.Second // a try that lasted this long was a success for a while: start again at retryFirst
)

// keepTrying runs t until it returns nil or ctx ends; then it returns ctx's error. It logs a failure once per kind, not once per try.
func keepTrying(ctx context.Context, log *slog.Logger, level slog.Level, message string, t task) error {
	var logged string
	for try := 0; ctx.Err() == nil; try++ {
		begin := time.Now()
		err := guarded(ctx, t.run)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(begin) >= retryReset {
			try, logged = 0, ""
		}
		if kind := kindOf(err); kind != logged {
			log.Log(ctx, level, message, "task", t.name, "error", err)
			logged = kind
		}
		sleep(ctx, backoff(try))
	}
	return ctx.Err()
}

// backoff doubles from retryFirst to retryMost, and is jittered over its upper half.
func backoff(try int) time.Duration {
	d := min(retryFirst<<min(try, 10), retryMost)
	return d/2 + rand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// guarded turns a panic into an error with its stack: one bad task must not take the process down.
func guarded(ctx context.Context, f func(ctx context.Context) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	return f(ctx)
}

var numbers = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// kindOf makes errors equal that differ only in ports, ids, times and addresses.
func kindOf(err error) string { return numbers.ReplaceAllString(err.Error(), "#") }
