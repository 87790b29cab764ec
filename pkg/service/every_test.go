package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestEveryCallsAtOnceThenAboutEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		var calls []time.Duration
		err := Every(10*time.Second, func(context.Context) error {
			if calls = append(calls, time.Since(begun)); len(calls) == 20 {
				cancel()
			}
			return nil
		})(ctx)
		if err != nil {
			t.Fatalf("the end of ctx is no failure: %v", err)
		}
		if calls[0] != 0 {
			t.Errorf("the first call comes after %v", calls[0])
		}
		var shortest, longest time.Duration = time.Hour, 0
		for i := 1; i < len(calls); i++ {
			gap := calls[i] - calls[i-1]
			shortest, longest = min(shortest, gap), max(longest, gap)
		}
		if shortest < 9*time.Second || longest > 11*time.Second || shortest == longest {
			t.Errorf("intervals from %v to %v, want 10 s and a tenth of spread", shortest, longest)
		}
	})
}

func TestEveryReportsTheFirstFailure(t *testing.T) {
	broken := errors.New("broken")
	if err := Every(time.Hour, func(context.Context) error { return broken })(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
