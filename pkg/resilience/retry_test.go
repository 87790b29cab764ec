package resilience

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func retryTwice() Config {
	return Config{
		Timeout: Timeout{Total: 2 * time.Second, Attempt: 500 * time.Millisecond},
		Retry:   Retry{Max: 2, Base: 50 * time.Millisecond, Cap: 200 * time.Millisecond},
	}
}

// unavailable is a 503.
func unavailable(retryAfter time.Duration) error {
	return &StatusError{Status: 503, RetryAfter: retryAfter}
}

// answers returns a body that gives the errors one after another, the last for ever, and counts its runs.
func answers(errs ...error) (body, *atomic.Int64) {
	var n atomic.Int64
	return func(context.Context) (int, error) {
		i := int(n.Add(1))
		return i, errs[min(i, len(errs))-1]
	}, &n
}

func TestRetriesUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, retryTwice(), obs)
		fn, n := answers(unavailable(0), syscall.ECONNRESET, nil)
		v, err := Call(t.Context(), d, fn)
		if v != 3 || err != nil || n.Load() != 3 {
			t.Errorf("%d, %v after %d attempts", v, err, n.Load())
		}
		if e := obs.calls[0]; e.Outcome != OutcomeSuccess || e.Attempts != 3 {
			t.Errorf("reported %+v, want one success of three attempts", e)
		}
		for i, e := range obs.attempts {
			if e.Attempt != i+1 {
				t.Errorf("attempt %d reported as %d", i+1, e.Attempt)
			}
		}
	})
}

func TestPausesGrowFromABaseToACap(t *testing.T) {
	r := Retry{Base: 50 * time.Millisecond, Cap: 400 * time.Millisecond}
	for n := 1; n <= 70; n++ { // far beyond where doubling would overflow
		ceiling := 400 * time.Millisecond
		if n < 4 {
			ceiling = 50 * time.Millisecond << (n - 1)
		}
		lowest, highest := time.Hour, time.Duration(0)
		for range 1000 {
			p := r.pause(n)
			lowest, highest = min(lowest, p), max(highest, p)
		}
		if lowest < ceiling/2 || highest > ceiling {
			t.Fatalf("pause %d is between %v and %v, want %v to %v", n, lowest, highest, ceiling/2, ceiling)
		}
		if highest-lowest < ceiling/3 {
			t.Fatalf("pause %d has no jitter: %v to %v", n, lowest, highest)
		}
	}
}

func TestPauseIsSlept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, retryTwice(), nil)
		start := time.Now()
		fn, n := answers(unavailable(0))
		try(d, fn)
		if took := time.Since(start); took < 75*time.Millisecond || took > 150*time.Millisecond || n.Load() != 3 {
			t.Errorf("%d attempts in %v, want pauses of 25-50 and 50-100 ms and none after the last", n.Load(), took)
		}
	})
}

func TestRetryAfterIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, retryTwice(), nil)
		start := time.Now()
		fn, _ := answers(&StatusError{Status: 429, RetryAfter: time.Second}, nil)
		if err := try(d, fn); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v, want success after the second asked for", err, time.Since(start))
		}
	})
}

func TestNeverSleepsPastTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, retryTwice(), nil)
		for name, err := range map[string]error{"the pause": unavailable(0), "Retry-After": unavailable(5 * time.Second)} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			start := time.Now()
			fn, n := answers(err)
			_, got := Call(ctx, d, fn)
			if took := time.Since(start); took != 0 || n.Load() != 1 {
				t.Errorf("%s: %d attempts in %v, want to know at once", name, n.Load(), took)
			}
			wantOutcome(t, got, OutcomeRejectedDeadline)
			if _, ok := errors.AsType[*StatusError](got); !ok || !errors.Is(got, context.DeadlineExceeded) {
				t.Errorf("%s: %v does not carry both the deadline and the cause", name, got)
			}
			cancel()
		}
	})
}

func TestHangingAttemptLeavesTimeForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, retryTwice(), nil)
		first := true
		v, err := Call(t.Context(), d, func(ctx context.Context) (int, error) {
			if first {
				first = false
				return after(time.Hour, nil)(ctx)
			}
			return 201, nil
		})
		if v != 201 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

func TestNoAttemptAfterTheCallerHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, retryTwice(), obs)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel) // during the first pause
		fn, n := answers(unavailable(0))
		_, err := Call(ctx, d, fn)
		if n.Load() != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d attempts, %v", n.Load(), err)
		}
		if _, ok := errors.AsType[*StatusError](err); !ok {
			t.Errorf("%v has lost the cause", err)
		}
		if got := obs.calls[0].Outcome; got != OutcomeCanceled {
			t.Errorf("reported as %s", got)
		}
	})
}

// TestTheCallersDeadlineIsNotRetried: an attempt's own timeout is worth another attempt, the end of the caller's time is not.
func TestTheCallersDeadlineIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, retryTwice(), obs)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // an attempt has 500
		defer cancel()
		start := time.Now()
		_, err := Call(ctx, d, after(time.Hour, nil))
		e := obs.last()
		if !errors.Is(err, context.DeadlineExceeded) || e.Attempts != 1 || e.Outcome != OutcomeTimeout || time.Since(start) != 300*time.Millisecond {
			t.Errorf("%v after %v, reported %+v, want one attempt that timed out", err, time.Since(start), e)
		}
	})
}

// TestBudgetIsAskedBeforeThePause: who may not retry anyway hears at once, and of the failure itself.
func TestBudgetIsAskedBeforeThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, retryTwice(), nil)
		for d.budget.withdraw(time.Now()) {
		}
		start := time.Now()
		fn, n := answers(unavailable(time.Second))
		err := try(d, fn)
		wantOutcome(t, err, OutcomeRejectedBudget)
		if _, ok := errors.AsType[*StatusError](err); !ok || time.Since(start) != 0 || n.Load() != 1 {
			t.Errorf("%v after %v and %d attempts", err, time.Since(start), n.Load())
		}
	})
}

func TestLastErrorKeepsEveryCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, retryTwice(), nil)
		n := 0
		_, err := Call(t.Context(), d, func(ctx context.Context) (int, error) {
			if n++; n == 1 {
				return 0, unavailable(0)
			}
			return after(time.Hour, nil)(ctx)
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v has lost the last cause", err)
		}
		if s, ok := errors.AsType[*StatusError](err); !ok || s.Status != 503 {
			t.Errorf("%v has lost the last status", err)
		}
		for _, want := range []string{"dep", "attempt 1", "503", "attempt 3", "timed out"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not mention %q", err, want)
			}
		}
		if !Final(err) {
			t.Error("a caller further up should not retry what has been retried")
		}
	})
}

func TestOpenBreakerIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := retryTwice()
		cfg.Breaker = breakerOn3().Breaker
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		fn, n := answers(unavailable(0))
		for d.State().Breaker == BreakerClosed {
			try(d, fn)
			time.Sleep(200 * time.Millisecond)
		}
		ran := n.Load()
		start := time.Now()
		wantOutcome(t, try(d, fn), OutcomeRejectedOpen)
		if n.Load() != ran || time.Since(start) != 0 {
			t.Errorf("%d attempts, %v, while open", n.Load()-ran, time.Since(start))
		}
	})
}

func TestBreakerOpeningBetweenAttemptsEndsTheCallWithBothErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := retryTwice()
		cfg.Breaker = Breaker{FailureRatio: 1, MinCalls: 1, OpenFor: time.Second}
		d := mustNew(t, cfg, nil)
		fn, n := answers(unavailable(0))
		err := try(d, fn)
		wantOutcome(t, err, OutcomeRejectedOpen)
		if _, ok := errors.AsType[*StatusError](err); !ok || n.Load() != 1 {
			t.Errorf("%d attempts, %v, want one, and its 503 in the error", n.Load(), err)
		}
	})
}

func TestWhatIsRetried(t *testing.T) {
	keyed := func(status int) error { return &StatusError{Status: status} }
	wrapped := func(err error) error {
		return &url.Error{Op: "Get", URL: "http://x", Err: fmt.Errorf("traced: %w", err)}
	}
	yes := map[string]error{
		"408": keyed(408), "425": keyed(425), "429": keyed(429), "502": keyed(502), "503": keyed(503), "504": keyed(504),
		"409 in progress": &StatusError{Status: 409, Header: http.Header{"Retry-After": {"1"}}},
		"refused":         &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"dns":             &net.DNSError{Err: "server misbehaving", IsTemporary: true},
		"reset":           wrapped(syscall.ECONNRESET), "pipe": wrapped(syscall.EPIPE), "aborted": wrapped(syscall.ECONNABORTED),
		"unreachable": wrapped(syscall.EHOSTUNREACH), "network": wrapped(syscall.ENETUNREACH),
		"EOF": wrapped(io.EOF), "unexpected EOF": wrapped(io.ErrUnexpectedEOF),
		"timeout": wrapped(context.DeadlineExceeded), "socket timeout": wrapped(os.ErrDeadlineExceeded),
		"idle":           wrapped(errors.New("http: server closed idle connection")),
		"goaway":         wrapped(errors.New("http2: server sent GOAWAY and closed the connection")),
		"dial of a POST": wrapped(&mayHaveActed{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}),
		"429 to a POST":  &StatusError{Status: 429, mayHaveActed: true},
	}
	no := map[string]error{
		"400": keyed(400), "401": keyed(401), "404": keyed(404), "409": keyed(409), "422": keyed(422),
		"500": keyed(500), "501": keyed(501), "505": keyed(505), "507": keyed(507), "508": keyed(508), "511": keyed(511),
		"503, do not retry":  &StatusError{Status: 503, DoNotRetry: true},
		"open breaker":       &Rejected{Outcome: OutcomeRejectedOpen},
		"our own code":       errDown,
		"503 to a POST":      &StatusError{Status: 503, mayHaveActed: true},
		"EOF after a POST":   wrapped(&mayHaveActed{io.EOF}),
		"timeout of a POST":  wrapped(&mayHaveActed{context.DeadlineExceeded}),
		"certificate":        wrapped(errors.New("x509: certificate signed by unknown authority")),
		"canceled elsewhere": context.Canceled,
	}
	for name, err := range yes {
		if !DefaultRetryable(err) {
			t.Errorf("%s is not retried: %v", name, err)
		}
	}
	for name, err := range no {
		if DefaultRetryable(err) {
			t.Errorf("%s is retried: %v", name, err)
		}
	}
}

func TestOneAttemptIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, retryTwice(), nil)
		fn, n := answers(unavailable(0))
		if _, err := Call(OneAttempt(t.Context()), d, fn); n.Load() != 1 || Final(err) {
			t.Errorf("%d attempts, %v", n.Load(), err)
		}
	})
}

func TestThousandCallersFailingAtOnceStayWithinTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, retryTwice(), obs)
		fn, n := answers(unavailable(0))
		var callers sync.WaitGroup
		for range 1000 {
			callers.Go(func() {
				err := try(d, fn)
				if _, ok := errors.AsType[*StatusError](err); !ok {
					t.Errorf("%v has lost the cause", err)
				}
			})
		}
		callers.Wait()
		if extra := n.Load() - 1000; extra > 110 || extra < 100 {
			t.Errorf("%d extra attempts for 1000 calls, want 10 %% and the floor of 10", extra)
		}
		if got := obs.outcomes()[OutcomeRejectedBudget]; got < 800 {
			t.Errorf("%d calls were refused by the budget", got)
		}
	})
}

func TestBudgetFloorAndWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(0.1, 3, time.Now())
		take := func() (n int) {
			for b.withdraw(time.Now()) {
				n++
			}
			return n
		}
		if n := take(); n != 3 {
			t.Errorf("%d without traffic, want the floor", n)
		}
		for range 100 {
			b.deposit(time.Now())
		}
		if n := take(); n != 10 {
			t.Errorf("%d more after 100 calls, want 10", n)
		}
		time.Sleep(9 * time.Second)
		if n := take(); n != 0 {
			t.Errorf("%d within the same window, want none", n)
		}
		time.Sleep(time.Hour)
		if n := b.left(time.Now()); n != 3 {
			t.Errorf("%d left after an hour, want the floor", n)
		}
	})
}

func TestRetriesDoNotPayIntoTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := retryTwice()
		cfg.Retry.BudgetRatio, cfg.Retry.BudgetFloor = 1, 100
		d := mustNew(t, cfg, nil)
		fn, _ := answers(unavailable(0), unavailable(0), nil)
		try(d, fn)
		if left := d.State().BudgetLeft; left != 99 {
			t.Errorf("%d left of 100 after one call with two retries, want 99", left)
		}
	})
}
