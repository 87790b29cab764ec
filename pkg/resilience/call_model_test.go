package resilience

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// pending is a call whose body waits to be told how to end.
type pending struct {
	id    int
	begun time.Time
	end   chan body
	leave context.CancelFunc
}

// ends are the ways in which a body can end, and what the oracle is told of each.
var ends = []struct {
	name  string
	leave bool // the caller leaves first
	body  body
	is    Outcome
}{
	{"success", false, succeed, OutcomeSuccess}, {"another success", false, succeed, OutcomeSuccess},
	{"failure", false, fail, OutcomeFailure}, {"panic", false, panics, OutcomeFailure}, {"panic(nil)", false, nilPanic, OutcomeFailure},
	{"Goexit", false, goexit, OutcomeFailure}, {"no such thing", false, func(context.Context) (int, error) { return 0, &StatusError{Status: 404} }, OutcomeSuccess},
	{"the caller leaves", true, func(ctx context.Context) (int, error) { return 0, ctx.Err() }, OutcomeCanceled},
	{"refused further down", false, func(context.Context) (int, error) { return 0, &Rejected{Outcome: OutcomeRejectedLimit} }, OutcomeRejectedLimit},
}

// TestCallsAgainstAnOracle runs random schedules of calls through Call: bodies that succeed, fail, panic, exit, are canceled or hang, in
// any order and over any time, in virtual time. The oracle is the one of TestBreakerAgainstAnOracle.
func TestCallsAgainstAnOracle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(t *rapid.T) { // without T's Deadline, which a bubble does not have
			cfg := Breaker{
				FailureRatio: 0.5, SlowRatio: 0.9, SlowAfter: time.Second, MinCalls: rapid.IntRange(2, 6).Draw(t, "min calls"), Window: 10 * time.Second,
				ConsecutiveFailures: rapid.IntRange(2, 4).Draw(t, "consecutive"), OpenFor: 5 * time.Second,
				Probes: rapid.IntRange(1, 3).Draw(t, "probes"),
			}
			cfg.Successes = cfg.Probes
			d, err := New("dep", Config{Breaker: cfg}, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := &oracle{cfg: cfg, lease: d.breaker.lease, epoch: time.Now()}
			o.become(BreakerClosed)
			learn := func() { // the jitter of the open time is its own
				if o.state == BreakerOpen && o.openUntil.IsZero() {
					o.openUntil = time.Now().Add(d.State().RetryAfter)
				}
			}
			opening := func(f func()) {
				before := o.state
				if f(); o.state == BreakerOpen && before != BreakerOpen {
					o.openUntil = time.Time{}
				}
			}
			var calls []pending
			next := 0
			end := func(i, how int) {
				p, e := calls[i], ends[how]
				calls = slices.Delete(calls, i, i+1)
				if e.leave {
					p.leave()
				}
				p.end <- e.body
				synctest.Wait()
				p.leave()
				opening(func() { o.report(p.id, p.begun, e.is, time.Now()) })
				learn()
			}
			t.Repeat(map[string]func(*rapid.T){
				"": func(t *rapid.T) {
					want := o.state
					if want == BreakerOpen && !time.Now().Before(o.openUntil) {
						want = BreakerHalfOpen
					}
					if s := d.State(); s.Breaker != want || s.InFlight != len(calls) {
						t.Fatalf("%+v, the oracle says %s with %d in flight", s, want, len(calls))
					}
				},
				"pause": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.SampledFrom([]int{1, 50, 300, 700, 2500, 5000, 11_000}).Draw(t, "ms")) * time.Millisecond)
				},
				"call": func(t *rapid.T) {
					next++
					ctx, leave := context.WithCancel(context.Background())
					p := pending{next, time.Now(), make(chan body), leave}
					begun := false
					go surviving(func() {
						Call(ctx, d, func(ctx context.Context) (int, error) {
							begun = true
							return (<-p.end)(ctx)
						})
					})
					synctest.Wait()
					var want Outcome
					opening(func() { want = o.allow(next, p.begun) })
					learn()
					if begun != (want == OutcomeSuccess) {
						t.Fatalf("call %d: begun is %v, the oracle says %s", next, begun, want)
					}
					if begun {
						calls = append(calls, p)
					} else {
						leave()
					}
				},
				"end": func(t *rapid.T) {
					if len(calls) > 0 {
						end(rapid.IntRange(0, len(calls)-1).Draw(t, "which"), rapid.IntRange(0, len(ends)-1).Draw(t, "how"))
					}
				},
			})
			for len(calls) > 0 {
				end(0, 0)
			}
			d.Close()
		})
	})
}
