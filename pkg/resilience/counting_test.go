package resilience

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhatEachOutcomeCounts is the table of all outcomes and all layers.
func TestWhatEachOutcomeCounts(t *testing.T) {
	type counted struct {
		attempts              int // reported by OnCall
		calls, failures, slow int // by the breaker
		sampled               int // by the adaptive limit
		latency               int // by the hedge
		extra                 int // taken from the budget
	}
	type setUp func(*Dependency) (context.Context, body)
	plain := func(fn body) setUp {
		return func(*Dependency) (context.Context, body) { return context.Background(), fn }
	}
	table := map[Outcome]struct {
		make setUp
		want counted
	}{
		OutcomeSuccess: {plain(after(10*time.Millisecond, nil)), counted{1, 1, 0, 0, 1, 1, 0}},
		OutcomeSlow:    {plain(after(150*time.Millisecond, nil)), counted{1, 1, 0, 1, 1, 1, 0}},
		OutcomeFailure: {plain(fail), counted{1, 1, 1, 0, 0, 0, 0}},
		OutcomeTimeout: {plain(func(ctx context.Context) (int, error) { // once, and the caller's time is up
			return after(time.Hour, nil)(ctx)
		}), counted{2, 2, 2, 2, 2, 2, 1}},
		OutcomeCanceled: {func(*Dependency) (context.Context, body) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(10*time.Millisecond, cancel)
			return ctx, after(time.Hour, nil)
		}, counted{1, 0, 0, 0, 0, 0, 0}},
		OutcomeRejectedOpen: {func(d *Dependency) (context.Context, body) {
			d.ForceOpen("", 0)
			return context.Background(), succeed
		}, counted{}},
		OutcomeRejectedHalfOpen: {func(d *Dependency) (context.Context, body) {
			d.ForceOpen("", time.Millisecond)
			time.Sleep(time.Millisecond)
			go Call(context.Background(), d, after(50*time.Millisecond, errDown))
			synctest.Wait()
			return context.Background(), succeed
		}, counted{}},
		OutcomeRejectedLimit: {func(d *Dependency) (context.Context, body) {
			d.SetLimit(1)
			d.limiter.acquire(context.Background(), 0)
			time.AfterFunc(time.Second, d.limiter.release)
			return context.Background(), succeed
		}, counted{}},
		OutcomeRejectedBudget: {func(d *Dependency) (context.Context, body) {
			for d.budget.withdraw(time.Now()) {
			}
			fn, _ := answers(unavailable(0))
			return context.Background(), fn
		}, counted{1, 1, 1, 0, 0, 0, 0}},
		OutcomeRejectedDeadline: {func(*Dependency) (context.Context, body) {
			fn, _ := answers(unavailable(time.Minute))
			return context.Background(), fn
		}, counted{1, 1, 1, 0, 0, 0, 0}},
	}
	for _, o := range Outcomes() {
		t.Run(o.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs := &recorder{}
				d := mustNew(t, Config{
					Timeout:  Timeout{Total: 500 * time.Millisecond, Attempt: 200 * time.Millisecond},
					Adaptive: Adaptive{Min: 1, Max: 10},
					Breaker:  Breaker{FailureRatio: 1, MinCalls: 100, SlowAfter: 100 * time.Millisecond, OpenFor: time.Second},
					Retry:    Retry{Max: 1, Base: 2 * time.Millisecond},
					Hedge:    Hedge{MaxRatio: 0.05, Idempotent: true},
				}, obs)
				ctx, fn := table[o].make(d)
				left := d.State().BudgetLeft
				Call(ctx, d, fn)
				s, e := d.State(), obs.last()
				got := counted{e.Attempts, s.Calls, s.Failures, s.Slow, len(d.limiter.adaptor.samples), d.hedger.latency.samples, max(left-s.BudgetLeft, 0)}
				if e.Outcome != o || got != table[o].want {
					t.Errorf("%s counted %+v, want %s %+v", e.Outcome, got, o, table[o].want)
				}
				time.Sleep(2 * time.Second)
				wantIdle(t, d)
			})
		})
	}
}

// TestFourHopsDoNotMultiply has four services, each with three attempts, one behind the other and over HTTP, and the last one's
// database down. What they know of each other is what travels in headers.
func TestFourHopsDoNotMultiply(t *testing.T) {
	amplification := func(t *testing.T, honest bool) float64 {
		var reached atomic.Int64
		next := func(r *http.Request) *http.Response { // the database
			if n := reached.Add(1); honest && r.Header.Get(HeaderAttempt) != fmt.Sprint((n-1)%3+1) {
				t.Errorf("attempt %d says it is %s", (n-1)%3+1, r.Header.Get(HeaderAttempt))
			}
			return answer(http.StatusServiceUnavailable)
		}
		for range 4 {
			cfg := retryTwice()
			cfg.Timeout = Timeout{Total: time.Hour, Attempt: 20 * time.Minute} // long enough for all below
			cfg.Retry.BudgetRatio, cfg.Retry.BudgetFloor = 1, 10_000           // as if there were no budget
			below := next
			d := withTransport(mustNew(t, cfg, nil), func(r *http.Request) (*http.Response, error) { return below(r), nil })
			next = func(r *http.Request) *http.Response {
				budget, err := ParseTimeout(r.Header.Get(HeaderTimeout))
				if err != nil {
					t.Errorf("the next hop does not know its deadline: %v", err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), budget)
				defer cancel()
				_, err = Call(ctx, d, get(d, "http://upstream/"))
				resp := answer(http.StatusServiceUnavailable)
				if honest && Final(err) {
					resp.Header.Set(HeaderDoNotRetry, "1")
				}
				return resp
			}
		}
		for range 20 {
			request := httptest.NewRequest(http.MethodGet, "/", nil)
			request.Header.Set(HeaderTimeout, "10000000")
			next(request)
		}
		return float64(reached.Load()) / 20
	}
	synctest.Test(t, func(t *testing.T) {
		if n := amplification(t, false); n != 81 {
			t.Errorf("without the header one request becomes %v, want 3^4: then this test measures nothing", n)
		}
		if n := amplification(t, true); n != 3 {
			t.Errorf("one request becomes %v, want the three attempts of the last hop", n)
		}
	})
}

func TestFinal(t *testing.T) {
	for err, want := range map[error]bool{
		errDown:                        false,
		&StatusError{Status: 503}:      false,
		&StatusError{DoNotRetry: true}: true,
		&AttemptsError{Errs: []error{errDown, errDown}}: true,
		&Rejected{Outcome: OutcomeRejectedBudget}:       true,
		&Rejected{Outcome: OutcomeRejectedOpen}:         false,
	} {
		if Final(err) != want {
			t.Errorf("Final(%v) = %v", err, !want)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	timeout := &TimeoutError{Dependency: "dep", Attempt: 2, After: 1234567 * time.Nanosecond, Err: errDown}
	for err, want := range map[error]string{
		&Rejected{Dependency: "dep", Outcome: OutcomeRejectedOpen, RetryAfter: 1500 * time.Millisecond}: "dep: not called: the breaker is open (retry after 1.5s)",
		&Rejected{Dependency: "dep", Outcome: OutcomeRejectedBudget, Cause: errDown}:                    "dep: not called again: the retry budget is used up: the dependency is down",
		timeout: "dep: attempt 2 timed out after 1ms: the dependency is down",
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if !timeout.Timeout() || !errors.Is(timeout, errDown) {
		t.Error("a TimeoutError is no timeout, or has lost its cause")
	}
}

func TestDependsOnGobreakerAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"github.com/sony/gobreaker/v2", "watertight.example/pkg/resilience"}
	if got := strings.Fields(string(out)); !slices.Equal(got, want) {
		t.Errorf("depends on %v, want %v", got, want)
	}
}
