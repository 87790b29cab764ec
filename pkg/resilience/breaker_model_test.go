package resilience

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// oracle is the breaker as one would explain it: lists instead of buckets, everything counted anew each time. It knows nothing of
// gobreaker.
type oracle struct {
	cfg       Breaker
	lease     time.Duration
	epoch     time.Time
	state     BreakerState
	held      bool
	openUntil time.Time
	results   []result      // of the present closed state
	probes    []outstanding // out, oldest first
	let       int           // probes let through in this half-open state and not neutral
	good      int           // of them, successful
	valid     map[int]bool  // calls begun in the present state
}

type result struct {
	begun, at time.Time
	bad, slow bool
}

type outstanding struct {
	id    int
	begun time.Time
}

func (o *oracle) become(s BreakerState) {
	o.state, o.results, o.probes, o.let, o.good, o.valid = s, nil, nil, 0, 0, map[int]bool{}
}

// allow returns how a call that begins now is treated: OutcomeSuccess means admitted.
func (o *oracle) allow(id int, now time.Time) Outcome {
	if o.state == BreakerHalfOpen && len(o.probes) > 0 && now.Sub(o.probes[0].begun) >= o.lease {
		o.become(BreakerOpen)
		o.openUntil = time.Time{} // to be learned
		return OutcomeRejectedOpen
	}
	if o.state == BreakerOpen {
		if o.held || now.Before(o.openUntil) {
			return OutcomeRejectedOpen
		}
		o.become(BreakerHalfOpen)
	}
	if o.state == BreakerHalfOpen {
		if len(o.probes) >= o.cfg.Probes || o.let >= o.cfg.Successes {
			return OutcomeRejectedHalfOpen
		}
		o.probes = append(o.probes, outstanding{id, now})
		o.let++
	}
	o.valid[id] = true
	return OutcomeSuccess
}

func (o *oracle) report(id int, begun time.Time, out Outcome, now time.Time) {
	if !o.valid[id] {
		return
	}
	delete(o.valid, id)
	probe := o.state == BreakerHalfOpen
	o.probes = slices.DeleteFunc(o.probes, func(p outstanding) bool { return p.id == id })
	bad := out == OutcomeFailure || out == OutcomeTimeout
	slow := out == OutcomeSlow || now.Sub(begun) >= o.cfg.SlowAfter
	switch {
	case !bad && !out.answered():
		if probe {
			o.let--
		}
	case probe && (bad || slow):
		o.become(BreakerOpen)
	case probe:
		if o.good++; o.good == o.cfg.Successes {
			o.become(BreakerClosed)
		}
	default:
		o.results = append(o.results, result{begun, now, bad, slow})
		if (bad || slow) && !o.held && o.shouldOpen(now) {
			o.become(BreakerOpen)
		}
	}
}

func (o *oracle) shouldOpen(now time.Time) bool {
	width := o.cfg.Window / windowBuckets
	oldest := o.epoch.Add(now.Sub(o.epoch).Truncate(width) + width - o.cfg.Window)
	calls, failures, slow := 0, 0, 0
	var run []result
	for _, r := range o.results {
		if !r.at.Before(oldest) {
			calls++
			if r.bad {
				failures++
			}
			if r.slow {
				slow++
			}
		}
		switch {
		case r.bad && len(run) > 0 && r.at.Sub(run[len(run)-1].at) <= time.Minute:
			run = append(run, r)
		case r.bad:
			run = []result{r}
		case len(run) > 0 && !r.begun.Before(run[0].begun):
			run = nil
		}
	}
	if len(run) >= o.cfg.ConsecutiveFailures && now.Sub(run[0].at) >= 500*time.Millisecond {
		return true
	}
	return calls >= o.cfg.MinCalls &&
		(float64(failures) >= o.cfg.FailureRatio*float64(calls) || float64(slow) >= o.cfg.SlowRatio*float64(calls))
}

// TestBreakerAgainstAnOracle runs random schedules of calls, ends, pauses and interference by hand through both.
func TestBreakerAgainstAnOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Breaker{
			FailureRatio: rapid.SampledFrom([]float64{0.3, 0.5, 1}).Draw(t, "failure ratio"),
			SlowRatio:    rapid.SampledFrom([]float64{0.5, 0.9}).Draw(t, "slow ratio"),
			SlowAfter:    time.Second, MinCalls: rapid.IntRange(2, 8).Draw(t, "min calls"), Window: 10 * time.Second,
			ConsecutiveFailures: rapid.IntRange(2, 4).Draw(t, "consecutive"),
			OpenFor:             5 * time.Second, Probes: rapid.IntRange(1, 3).Draw(t, "probes"),
		}
		cfg.Successes = cfg.Probes + rapid.IntRange(0, 2).Draw(t, "more successes")
		now := time.Now()
		b := newBreaker("dep", Config{Breaker: cfg, Timeout: Timeout{Attempt: time.Second}}, &events{obs: NopObserver{}})
		b.window = newWindow(cfg.Window, now)
		o := &oracle{cfg: cfg, lease: b.lease, epoch: now}
		o.become(BreakerClosed)

		var tickets []ticket
		ids := map[uint64]int{}
		next := 0
		compare := func() {
			if o.state == BreakerOpen && !o.held && o.openUntil.IsZero() { // it has just opened; the jitter is its own
				o.openUntil = b.openUntil
				if open := b.openUntil.Sub(now); open < cfg.OpenFor*8/10 || open > cfg.OpenFor {
					t.Fatalf("opens for %v of at most %v", open, cfg.OpenFor)
				}
			}
			want := o.state
			if want == BreakerOpen && !o.held && !now.Before(o.openUntil) {
				want = BreakerHalfOpen
			}
			if got, _, _, _ := b.read(now); got != want {
				t.Fatalf("state is %s, the oracle says %s", got, want)
			}
		}
		learn := func(before BreakerState) {
			if o.state == BreakerOpen && before != BreakerOpen {
				o.openUntil = time.Time{}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { compare() },
			"pause": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 50, 300, 700, 2500, 5000, 11_000, 61_000}).Draw(t, "ms")) * time.Millisecond)
			},
			"begin": func(t *rapid.T) {
				next++
				before := o.state
				want := o.allow(next, now)
				learn(before)
				ticket, rejected := b.allow(now)
				got := OutcomeSuccess
				if rejected != nil {
					got = rejected.Outcome
				} else {
					tickets, ids[ticket.id] = append(tickets, ticket), next
				}
				if got != want {
					t.Fatalf("call %d: %s, the oracle says %s", next, got, want)
				}
			},
			"end": func(t *rapid.T) {
				if len(tickets) == 0 {
					return
				}
				i := rapid.IntRange(0, len(tickets)-1).Draw(t, "which")
				out := rapid.SampledFrom([]Outcome{OutcomeSuccess, OutcomeSuccess, OutcomeSlow, OutcomeFailure, OutcomeFailure, OutcomeTimeout, OutcomeCanceled, OutcomeRejectedLimit}).Draw(t, "outcome")
				tk := tickets[i]
				tickets = slices.Delete(tickets, i, i+1)
				before := o.state
				o.report(ids[tk.id], tk.begun, out, now)
				learn(before)
				b.report(tk, out, now.Sub(tk.begun), now)
			},
			"force open": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
					return
				}
				dur := time.Duration(rapid.IntRange(0, 3).Draw(t, "s")) * time.Second
				if o.state != BreakerOpen {
					o.become(BreakerOpen)
				}
				o.held, o.openUntil = dur == 0, now.Add(dur)
				b.forceOpen("", dur, now)
			},
			"force closed": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
					return
				}
				if o.state != BreakerClosed {
					o.become(BreakerClosed)
				}
				o.held = true
				b.forceClosed("", now)
			},
			"release": func(*rapid.T) {
				if o.held && o.state == BreakerOpen {
					o.openUntil = now
				}
				o.held = false
				b.release(now)
			},
		})
	})
}
