package resilience

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func hedging() Config {
	return Config{
		Timeout: Timeout{Total: 10 * time.Second},
		Hedge:   Hedge{MaxRatio: 0.05, Idempotent: true, MinSamples: 20},
		Retry:   Retry{BudgetFloor: 1000},
	}
}

// warmUp makes the latency known: 10 ms, so that the second attempt starts after about 11 ms.
func warmUp(d *Dependency) {
	for range 200 {
		try(d, after(10*time.Millisecond, nil))
	}
}

// byAttempt runs one body for the first attempt and another for the second.
func byAttempt(first, second body) body {
	return func(ctx context.Context) (int, error) {
		if AttemptFromContext(ctx) == 1 {
			return first(ctx)
		}
		return second(ctx)
	}
}

func returns(v int, d time.Duration, err error) body {
	return func(ctx context.Context) (int, error) {
		_, got := after(d, err)(ctx)
		return v, got
	}
}

func TestSlowFirstAttemptIsHedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, hedging(), obs)
		warmUp(d)
		start := time.Now()
		v, err := Call(t.Context(), d, byAttempt(returns(1, time.Second, nil), returns(2, 10*time.Millisecond, nil)))
		if v != 2 || err != nil || time.Since(start) > 25*time.Millisecond {
			t.Errorf("%d, %v after %v, want the second attempt's answer", v, err, time.Since(start))
		}
		synctest.Wait()
		e := obs.calls[len(obs.calls)-1]
		if e.Hedge != HedgeBackupWon || e.Attempts != 2 || e.Outcome != OutcomeSuccess {
			t.Errorf("reported %+v", e)
		}
		loser := obs.attempts[len(obs.attempts)-2:]
		slices.SortFunc(loser, func(a, b AttemptEvent) int { return a.Attempt - b.Attempt })
		if loser[0].Outcome != OutcomeCanceled || loser[1].Outcome != OutcomeSuccess {
			t.Errorf("attempts reported as %s and %s, want the loser canceled", loser[0].Outcome, loser[1].Outcome)
		}
		wantIdle(t, d)
	})
}

func TestErrorWaitsForTheOtherAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		first, second body
		want          int
		err           bool
		took          time.Duration
	}{
		"the first succeeds later":  {returns(1, 200*time.Millisecond, nil), returns(2, 20*time.Millisecond, errDown), 1, false, 200 * time.Millisecond},
		"the second succeeds later": {returns(1, 50*time.Millisecond, errDown), returns(2, 200*time.Millisecond, nil), 2, false, 212 * time.Millisecond},
		"the first says no":         {returns(1, 50*time.Millisecond, &StatusError{Status: 404}), returns(2, 200*time.Millisecond, nil), 1, false, 50 * time.Millisecond},
		"the second says no":        {returns(1, time.Second, nil), returns(2, 20*time.Millisecond, &StatusError{Status: 404}), 2, false, 31 * time.Millisecond},
		"both fail":                 {returns(1, 50*time.Millisecond, errDown), returns(2, 100*time.Millisecond, errDown), 1, true, 112 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustNew(t, hedging(), nil)
				warmUp(d)
				start := time.Now()
				v, err := Call(t.Context(), d, byAttempt(c.first, c.second))
				if v != c.want || errors.Is(err, errDown) != c.err {
					t.Errorf("%d, %v, want %d", v, err, c.want)
				}
				if took := time.Since(start); took < c.took-2*time.Millisecond || took > c.took+2*time.Millisecond {
					t.Errorf("took %v, want %v", took, c.took)
				}
				synctest.Wait()
				wantIdle(t, d)
			})
		})
	}
}

func TestNobodyWaitsForABodyThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, hedging(), nil)
		warmUp(d)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := Call(ctx, d, byAttempt(returns(1, 50*time.Millisecond, errDown), stubborn(5*time.Second, nil)))
		if took := time.Since(start); took != 100*time.Millisecond || !errors.Is(err, errDown) {
			t.Errorf("%v after %v, want the caller's deadline", err, took)
		}
		if s := d.State(); s.InFlight != 1 {
			t.Errorf("%d in flight, want the one that still runs", s.InFlight)
		}
		time.Sleep(10 * time.Second)
		wantIdle(t, d)
	})
}

// longTail answers after a lognormal time around 5 ms; one in a hundred takes a hundred times as long.
func longTail(rng *rand.Rand, factor float64) body {
	var mu sync.Mutex
	return func(ctx context.Context) (int, error) {
		mu.Lock()
		d := 5 * math.Exp(0.3*rng.NormFloat64()) * factor
		if rng.Float64() < 0.01 {
			d *= 100
		}
		mu.Unlock()
		return after(time.Duration(d*float64(time.Millisecond)), nil)(ctx)
	}
}

// measure makes n calls at 200 a second and returns the time 999 of 1000 stay below, and the attempts made.
func measure(d *Dependency, n int, fn body) (p999 time.Duration, attempts int) {
	var mu sync.Mutex
	var took []time.Duration
	var made atomic.Int64
	var callers sync.WaitGroup
	for range n {
		callers.Go(func() {
			start := time.Now()
			try(d, func(ctx context.Context) (int, error) { made.Add(1); return fn(ctx) })
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(start))
		})
		time.Sleep(5 * time.Millisecond)
	}
	callers.Wait()
	slices.Sort(took)
	return took[n*999/1000], int(made.Load())
}

func TestHedgingCutsTheTailForFivePercent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 30_000
		plain := mustNew(t, Config{Timeout: Timeout{Total: 10 * time.Second}}, nil)
		without, _ := measure(plain, n, longTail(rand.New(rand.NewPCG(1, 1)), 1))
		d := mustNew(t, hedging(), nil)
		measure(d, 1000, longTail(rand.New(rand.NewPCG(2, 2)), 1))
		with, attempts := measure(d, n, longTail(rand.New(rand.NewPCG(1, 1)), 1))
		if with*10 > without {
			t.Errorf("p99.9 is %v, without hedging %v, want a tenth", with, without)
		}
		if attempts > n*105/100 {
			t.Errorf("%d attempts for %d calls, want at most 5 %% more", attempts, n)
		}
		t.Logf("p99.9 %v -> %v for %.1f %% more calls", without, with, float64(attempts-n)*100/n)
	})
}

func TestGlobalSlownessIsNotHedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, hedging(), nil)
		rng := rand.New(rand.NewPCG(1, 1))
		measure(d, 5000, longTail(rng, 1))
		const n = 5000
		_, attempts := measure(d, n, longTail(rng, 10))
		if attempts > n*105/100 {
			t.Errorf("%d attempts for %d calls when all is 10x slower, want at most 5 %% more", attempts, n)
		}
	})
}

func TestHedgeSuppressedByBreakerOrBudget(t *testing.T) {
	for name, c := range map[string]func(*Config, *Dependency){
		"the breaker is not closed": func(_ *Config, d *Dependency) { d.ForceOpen("", time.Millisecond); time.Sleep(time.Millisecond) },
		"the budget is used up": func(_ *Config, d *Dependency) {
			for d.budget.withdraw(time.Now()) {
			}
		},
		"the cap is reached": func(_ *Config, d *Dependency) {
			for d.hedger.cap.withdraw(time.Now()) {
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := hedging()
				cfg.Breaker = Breaker{ConsecutiveFailures: 3, OpenFor: time.Second}
				obs := &recorder{}
				d := mustNew(t, cfg, obs)
				warmUp(d)
				c(&cfg, d)
				var runs atomic.Int64
				v, err := Call(t.Context(), d, func(ctx context.Context) (int, error) {
					runs.Add(1)
					return after(100*time.Millisecond, nil)(ctx)
				})
				if v != 1 || err != nil || runs.Load() != 1 {
					t.Errorf("%d, %v after %d attempts, want the first to go on undisturbed", v, err, runs.Load())
				}
				if got := obs.calls[len(obs.calls)-1].Hedge; got != HedgeSuppressed {
					t.Errorf("reported as %q", got)
				}
				wantState(t, d, BreakerClosed)
			})
		})
	}
}

func TestLosersDoNotTripTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hedging()
		cfg.Timeout.Total = time.Second
		cfg.Breaker = Breaker{FailureRatio: 0.05, MinCalls: 10, ConsecutiveFailures: 2, OpenFor: time.Second}
		d := mustNew(t, cfg, nil)
		warmUp(d)
		for range 500 {
			fn := after(10*time.Millisecond, nil)
			if rand.N(20) == 0 {
				fn = byAttempt(returns(1, time.Minute, nil), returns(2, 10*time.Millisecond, nil))
			}
			try(d, fn)
		}
		if s := d.State(); s.Breaker != BreakerClosed || s.Failures > 10 {
			t.Errorf("state is %+v", s) // what the cap suppressed has timed out
		}
		synctest.Wait()
		wantIdle(t, d)
	})
}

func TestLosersValuesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened, closed atomic.Int64
		d := mustNew(t, hedging(), nil)
		warmUp(d)
		for i := range 200 {
			v, err := Call(t.Context(), d, func(ctx context.Context) (io.Closer, error) {
				if AttemptFromContext(ctx) == 1 {
					time.Sleep(time.Duration(20+i%3) * time.Millisecond) // ignores its context, so both succeed
				} else {
					time.Sleep(10 * time.Millisecond)
				}
				opened.Add(1)
				return readCloser{close: func() { closed.Add(1) }}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			v.Close()
			for range 20 {
				try(d, after(10*time.Millisecond, nil))
			}
		}
		synctest.Wait()
		if opened.Load() != closed.Load() || opened.Load() < 300 {
			t.Errorf("%d opened, %d closed", opened.Load(), closed.Load())
		}
	})
}

func TestLosersResponseIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		d := mustNew(t, hedging(), nil)
		warmUp(d)
		_, err := Call(t.Context(), d, func(ctx context.Context) (*http.Response, error) {
			if AttemptFromContext(ctx) == 1 {
				time.Sleep(20 * time.Millisecond)
				return answer(200), nil
			}
			time.Sleep(50 * time.Millisecond) // ignores that it has lost
			resp := answer(200)
			resp.Body = readCloser{close: func() { closed++ }}
			return resp, nil
		})
		time.Sleep(time.Second)
		synctest.Wait()
		if err != nil || closed != 1 {
			t.Errorf("%v, closed %d times", err, closed)
		}
	})
}

func TestPanicsInTheSecondAttempt(t *testing.T) {
	var logged bytes.Buffer
	quiet := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	defer slog.SetDefault(quiet)
	for name, c := range map[string]struct {
		first, second body
		want          string // of the panic that reaches the caller
	}{
		"the first succeeds":            {returns(1, 100*time.Millisecond, nil), panics, ""},
		"the first fails":               {returns(1, 100*time.Millisecond, errDown), panics, "boom"},
		"Goexit, and the first fails":   {returns(1, 100*time.Millisecond, errDown), goexit, ""},
		"the first panics while hedged": {func(context.Context) (int, error) { time.Sleep(50 * time.Millisecond); panic("mine") }, returns(2, time.Second, nil), "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustNew(t, hedging(), nil)
				warmUp(d)
				got := ""
				func() {
					defer func() {
						switch p := recover().(type) {
						case error:
							got = p.Error()
						case string:
							got = p
						}
					}()
					try(d, byAttempt(c.first, c.second))
				}()
				if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
					t.Errorf("panic is %q, want %q", got, c.want)
				}
				synctest.Wait()
				wantIdle(t, d)
			})
		})
	}
}

func TestBackupTakesWhatTheBreakerRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary := mustNew(t, Config{Timeout: Timeout{Total: time.Second}, Bulkhead: Bulkhead{Max: 10}}, nil)
		cfg := hedging()
		cfg.Hedge.Backup = primary
		cfg.Breaker = Breaker{ConsecutiveFailures: 3, OpenFor: time.Hour}
		cfg.Retry.BudgetFloor = 0
		obs := &recorder{}
		replica := mustNew(t, cfg, obs)
		read := func(ctx context.Context) (int, error) {
			if OnBackup(ctx) {
				return 2, nil
			}
			return 0, unavailable(0)
		}
		for range 1000 { // far more than any budget: once the replica is not called, this is no extra load
			v, err := Call(t.Context(), replica, read)
			if replica.State().Breaker == BreakerOpen && (v != 2 || err != nil) {
				t.Fatalf("%d, %v with the breaker open", v, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := obs.outcomes()[OutcomeSuccess]; n < 990 {
			t.Errorf("%d of 1000 reads succeeded", n)
		}
	})
}

// A failover takes longer than the hedge's delay: the timer, which is still armed, must not start it once more.
func TestNoHedgeOnTopOfAFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hedging()
		cfg.Hedge.Backup = mustNew(t, Config{}, nil)
		replica := mustNew(t, cfg, nil)
		warmUp(replica)
		asked := 0
		v, err := Call(t.Context(), replica, func(ctx context.Context) (int, error) {
			if !OnBackup(ctx) {
				return 0, unavailable(0)
			}
			asked++
			return returns(2, time.Second/2, nil)(ctx)
		})
		if v != 2 || err != nil || asked != 1 {
			t.Errorf("%d, %v, with the backup asked %d times", v, err, asked)
		}
	})
}

func TestRefusedHedgeDoesNotHideTheFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hedging()
		cfg.Bulkhead.Max = 1
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		warmUp(d)
		err := try(d, after(50*time.Millisecond, errDown)) // its hedge finds the bulkhead full
		if err != errDown {
			t.Errorf("error is %v", err)
		}
		if e := obs.last(); e.Attempts != 1 || e.Outcome != OutcomeFailure || e.Hedge != HedgeSuppressed {
			t.Errorf("reported %+v", e)
		}
	})
}

func TestProbeOfTheReplicaIsNotHedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hedging()
		cfg.Hedge.Backup = mustNew(t, Config{Timeout: Timeout{Total: time.Second}}, nil)
		cfg.Breaker = breakerOn3().Breaker
		replica := mustNew(t, cfg, nil)
		warmUp(replica)
		replica.ForceOpen("", time.Millisecond)
		time.Sleep(time.Millisecond)
		v, err := Call(t.Context(), replica, func(ctx context.Context) (int, error) {
			if OnBackup(ctx) {
				return 2, nil
			}
			return returns(1, 500*time.Millisecond, nil)(ctx)
		})
		if v != 1 || err != nil {
			t.Errorf("%d, %v, want the probe to run its course", v, err)
		}
		wantState(t, replica, BreakerClosed)
	})
}

func TestBackupsOwnLimitsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary := mustNew(t, breakerOn3(), nil)
		cfg := hedging()
		cfg.Hedge.Backup = primary
		cfg.Breaker = breakerOn3().Breaker
		replica := mustNew(t, cfg, nil)
		trip(t, primary)
		replica.ForceOpen("", 0)
		err := try(replica, succeed)
		if !errors.Is(err, &Rejected{Outcome: OutcomeRejectedOpen}) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestRequestsThatMustNotBeSentTwiceAreNotHedged(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			d := withTransport(mustNew(t, hedging(), nil), func(r *http.Request) (*http.Response, error) {
				sent.Add(1)
				if r.Body != nil {
					r.Body.Close()
				}
				_, err := after(100*time.Millisecond, nil)(r.Context())
				return answer(200), err
			})
			warmUp(d)
			try(d, func(ctx context.Context) (int, error) { return send(ctx, d, method, "http://upstream/", "", "") })
			want := map[string]int64{http.MethodGet: 2, http.MethodPost: 1}[method]
			if sent.Load() != want {
				t.Errorf("%s was sent %d times, want %d", method, sent.Load(), want)
			}
			if _, err := Call(OneAttempt(t.Context()), d, get(d, "http://upstream/")); err != nil || sent.Load() != want+1 {
				t.Errorf("a call of one attempt was sent %d times", sent.Load()-want)
			}
			synctest.Wait()
		})
	}
}

func TestBodyOfAHedgedWinIsWhole(t *testing.T) {
	var n atomic.Int64
	release := make(chan struct{})
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 26 {
			<-release // the first attempt of the measured call hangs
			return
		}
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		w.Write(bytes.Repeat([]byte("x"), 512<<10))
	})
	defer close(release)
	cfg := hedging()
	cfg.Timeout.Total = time.Minute // real time, and maybe on a busy machine
	d := mustNew(t, cfg, nil)
	read := func(ctx context.Context) (int, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return 0, err
		}
		resp, err := d.HTTPClient().Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return len(b), err
	}
	for range 25 { // without hedges: the first may be the only one that the cap allows
		Call(OneAttempt(t.Context()), d, read)
	}
	if v, err := Call(t.Context(), d, read); v != 512<<10 || err != nil {
		t.Errorf("%d bytes, %v", v, err)
	}
}

func TestHedgingLeavesNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, hedging(), nil)
		warmUp(d)
		before := runtime.NumGoroutine()
		rng := rand.New(rand.NewPCG(5, 5))
		for range 10_000 {
			fn := after(10*time.Millisecond, nil)
			if rng.Float64() < 0.04 {
				fn = byAttempt(returns(1, time.Second, nil), returns(2, 10*time.Millisecond, nil))
			}
			try(d, fn)
		}
		synctest.Wait()
		if after := runtime.NumGoroutine(); after > before+2 {
			t.Errorf("%d goroutines, %d before", after, before)
		}
		wantIdle(t, d)
	})
}

// TestFirstAttemptHasNoGoroutineOfItsOwn: an idle hedge costs a timer.
func TestFirstAttemptHasNoGoroutineOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, hedging(), nil)
		warmUp(d)
		synctest.Wait()
		before, during := runtime.NumGoroutine(), 0
		try(d, func(context.Context) (int, error) { during = runtime.NumGoroutine(); return 1, nil })
		if during != before {
			t.Errorf("%d goroutines while an attempt runs, %d before", during, before)
		}
	})
}

func TestTooFewSamplesAndDeadContextsAreNotHedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustNew(t, hedging(), nil)
		var runs atomic.Int64
		fn := func(ctx context.Context) (int, error) {
			runs.Add(1)
			return after(time.Second, nil)(ctx)
		}
		for range 19 {
			try(d, fn)
		}
		if runs.Load() != 19 {
			t.Errorf("%d attempts for 19 calls", runs.Load())
		}
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		Call(dead, d, fn)
		if runs.Load() != 19 {
			t.Error("a dead context was sent")
		}
	})
}

func TestQuantileFollowsItsStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	q := quantile{p: 0.95, minSamples: 100}
	feed := func(n int, scale float64) (above float64) {
		for range n {
			x := time.Duration(scale * math.Exp(0.5*rng.NormFloat64()) * float64(time.Millisecond))
			if now, _ := q.estimate(); x > now {
				above++
			}
			q.observe(x)
		}
		return above / float64(n)
	}
	feed(2000, 10)
	if above := feed(20_000, 10); above < 0.045 || above > 0.055 {
		t.Errorf("%.1f %% of samples are above the estimate, want 5 %%", above*100)
	}
	feed(100, 100)
	before, _ := q.estimate()
	if before < 150*time.Millisecond {
		t.Errorf("after 100 samples ten times as long the estimate is %v", before)
	}
	q.observe(time.Hour)
	if after, _ := q.estimate(); float64(after) > 1.06*float64(before) {
		t.Errorf("one outlier moved it from %v to %v", before, after)
	}
}
