package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestKeepTryingLogsChangesNotTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testLog
		tries := 0
		err := keepTrying(t.Context(), newLogger(&log, "test", slog.LevelInfo), slog.LevelWarn, "waiting", task{"store", func(context.Context) error {
			tries++
			switch {
			case tries <= 5:
				return fmt.Errorf("read udp 127.0.0.1:%d: refused", 40000+tries) // another port each time, the same trouble
			case tries <= 8:
				return errors.New("password authentication failed")
			}
			return nil
		}})
		if err != nil || tries != 9 {
			t.Errorf("err %v after %d tries", err, tries)
		}
		if n := log.count("waiting"); n != 2 {
			t.Errorf("%d lines for 2 kinds of trouble:\n%s", n, &log)
		}
	})
}

func TestKeepTryingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tries := 0
		err := keepTrying(ctx, slog.New(slog.DiscardHandler), slog.LevelWarn, "waiting", task{"store", func(context.Context) error {
			tries++
			return errors.New("no")
		}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if tries < 30 || tries > 70 { // about one in 1 to 2 s
			t.Errorf("%d tries in a minute", tries)
		}
	})
}

func TestBackoffGrowsToItsCapWithJitter(t *testing.T) {
	for try, want := range []time.Duration{100, 200, 400, 800, 1600, 2000, 2000} {
		want *= time.Millisecond
		seen := map[time.Duration]bool{}
		for range 100 {
			d := backoff(try)
			if d < want/2 || d >= want {
				t.Fatalf("try %d: %v is not in [%v, %v)", try, d, want/2, want)
			}
			seen[d] = true
		}
		if len(seen) < 10 {
			t.Errorf("try %d: only %d different pauses of 100", try, len(seen))
		}
	}
	if d := backoff(1 << 30); d > retryMost {
		t.Errorf("overflow: %v", d)
	}
}

func TestGuardedTurnsPanicIntoError(t *testing.T) {
	if err := guarded(t.Context(), func(context.Context) error { panic("boom") }); err == nil {
		t.Error("no error")
	}
}
