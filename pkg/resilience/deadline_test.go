package resilience

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFormatTimeoutLeavesTheHopMargin(t *testing.T) {
	for left, want := range map[time.Duration]string{
		500 * time.Millisecond:    "490", // 2 %
		100 * time.Millisecond:    "95",  // 5 ms
		time.Second:               "980",
		5 * time.Millisecond:      "0",
		time.Millisecond:          "0",
		-time.Second:              "0",
		105500 * time.Microsecond: "100",
	} {
		if got := FormatTimeout(left); got != want {
			t.Errorf("FormatTimeout(%v) = %q, want %q", left, got, want)
		}
	}
}

func TestParseTimeout(t *testing.T) {
	for v, want := range map[string]time.Duration{"0": 0, "490": 490 * time.Millisecond, "007": 7 * time.Millisecond, "999999999": 999999999 * time.Millisecond} {
		if got, err := ParseTimeout(v); err != nil || got != want {
			t.Errorf("ParseTimeout(%q) = %v, %v, want %v", v, got, err, want)
		}
	}
	for _, v := range []string{"", " ", "-1", "+1", "1.5", "1e3", "0x10", "1_000", "5ms", " 5", "5 ", "1000000000", "٣", "99999999999999999999"} {
		if got, err := ParseTimeout(v); err == nil {
			t.Errorf("ParseTimeout(%q) = %v, want an error", v, got)
		}
	}
}

func FuzzParseTimeout(f *testing.F) {
	for _, v := range []string{"0", "490", "-1", "1e9", "999999999", "5ms"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		d, err := ParseTimeout(v)
		if err == nil && (d < 0 || d >= 1e9*time.Millisecond || strings.Trim(v, "0123456789") != "") {
			t.Errorf("ParseTimeout(%q) = %v", v, d)
		}
	})
}

func TestEarliestDeadlineWins(t *testing.T) {
	for _, c := range []struct{ caller, total, attempt, want time.Duration }{
		{300, 2000, 2000, 300},
		{2000, 300, 200, 200},
		{2000, 300, 300, 300},
		{0, 300, 200, 200},
		{100, 300, 200, 100},
		{100, 0, 0, 100},
		{0, 0, 200, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			ms := time.Millisecond
			d := mustNew(t, Config{Timeout: Timeout{Total: c.total * ms, Attempt: c.attempt * ms}}, nil)
			ctx := t.Context()
			if c.caller > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.caller*ms)
				defer cancel()
			}
			start := time.Now()
			_, err := Call(ctx, d, after(time.Hour, nil))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %v", err)
			}
			if took := time.Since(start); took != c.want*ms {
				t.Errorf("%+v: took %v", c, took)
			}
		})
	}
}

func TestNothingIsStartedThatCannotFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, Config{Timeout: Timeout{Total: time.Second, Min: 20 * time.Millisecond}}, obs)
		ctx, cancel := context.WithTimeout(t.Context(), 19*time.Millisecond)
		defer cancel()
		never := func(context.Context) (int, error) { t.Error("started"); return 0, nil }
		_, err := Call(ctx, d, never)
		wantOutcome(t, err, OutcomeRejectedDeadline)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not match DeadlineExceeded", err)
		}
		time.Sleep(time.Second)
		_, err = Call(ctx, d, never)
		wantOutcome(t, err, OutcomeRejectedDeadline)
		if e := obs.calls[0]; e.Attempts != 0 || e.Outcome != OutcomeRejectedDeadline {
			t.Errorf("reported %+v", e)
		}
	})
}

func TestOptionalCallCannotEatThePagesBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recommendations := mustNew(t, Config{Timeout: Timeout{Total: 120 * time.Millisecond}}, nil)
		page, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		start := time.Now()
		list := CallOr(page, recommendations, after(time.Hour, nil), func(context.Context, error) int { return -1 })
		time.Sleep(20 * time.Millisecond) // rendering
		if took := time.Since(start); took != 140*time.Millisecond || list != -1 || page.Err() != nil {
			t.Errorf("page of %d after %v (%v), want the fallback within the budget", list, took, page.Err())
		}
	})
}

func TestBodysContextEndsWithTheAttempt(t *testing.T) {
	d := mustNew(t, Config{Timeout: Timeout{Total: time.Second}}, nil)
	var kept context.Context
	try(d, func(ctx context.Context) (int, error) { kept = ctx; return 0, nil })
	if !errors.Is(kept.Err(), context.Canceled) {
		t.Errorf("the attempt's context outlives it: %v", kept.Err())
	}
}
