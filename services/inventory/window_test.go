package main

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/resilience/resiliencetest"
)

// The first act of the outage in virtual time, with the Config the service runs
// with: the replica's host gets slow, later it is mended. What happens, and in which
// order: the limit is cut, the breaker opens, the primary takes over; after the mend
// a probe, the replica again, and its old limit.
func TestWhenTheReplicaGetsSlow(t *testing.T) {
	for name, slow := range map[string]resiliencetest.Behaviour{
		"all reads": resiliencetest.Answer(40 * time.Millisecond), // above replicaSlow, below replicaRead
		"most":      resiliencetest.Mix(3, 0.9, resiliencetest.Answer(40*time.Millisecond), resiliencetest.Answer(2*time.Millisecond)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const healthy, sick = time.Minute, 20 * time.Second
				w := newRehearsal(t, resiliencetest.Phase{For: healthy, Do: resiliencetest.Answer(2 * time.Millisecond)},
					resiliencetest.Phase{For: sick, Do: slow}, resiliencetest.Phase{Do: resiliencetest.Answer(2 * time.Millisecond)})
				full := w.replica.State().Limit
				var cut, opened, closed, restored time.Duration // since the change before
				w.run(healthy, nil)
				if got := w.replica.State().Limit; got != full || w.moves != nil {
					t.Fatalf("while all was well the limit went to %d of %d, and the breaker %v", got, full, w.moves)
				}
				before := w.fromPrimary
				w.run(sick, func(at time.Duration) {
					state := w.replica.State()
					if cut == 0 && float64(state.Limit) <= 0.6*float64(full) {
						cut = at
					}
					if opened == 0 && state.Breaker == resilience.BreakerOpen {
						opened = at
					}
				})
				if cut == 0 || cut > 3*time.Second || opened <= cut || opened > 10*time.Second {
					t.Errorf("the limit was cut after %v (want at most 3 s), the breaker opened after %v (want later, at most 10 s)", cut, opened)
				}
				if n := w.fromPrimary - before; n < 200 {
					t.Errorf("the primary answered %d reads after the breaker had opened", n)
				}
				w.run(30*time.Second, func(at time.Duration) {
					state := w.replica.State()
					if closed == 0 && state.Breaker == resilience.BreakerClosed {
						closed = at
					}
					if restored == 0 && closed > 0 && float64(state.Limit) >= 0.9*float64(full) {
						restored = at
					}
				})
				if closed == 0 || restored == 0 || restored > 15*time.Second {
					t.Errorf("mended: the breaker closed after %v, 90 %% of the limit after %v, want at most 15 s", closed, restored)
				}
				if w.failed > 0 {
					t.Errorf("%d reads failed", w.failed)
				}
			})
		})
	}
}

// A slow fraction is what hedges are for: the window waits for the primary, not for
// the replica, and neither limit nor breaker has a reason to move.
func TestHedgesCureASlowFraction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		usual, slow := resiliencetest.Answer(2*time.Millisecond), resiliencetest.Answer(45*time.Millisecond)
		w := newRehearsal(t, resiliencetest.Phase{For: time.Minute, Do: usual}, resiliencetest.Phase{Do: resiliencetest.Mix(7, 0.04, slow, usual)})
		full := w.replica.State().Limit
		w.run(time.Minute, nil)
		w.late, w.reads, w.fromPrimary = 0, 0, 0
		w.run(2*time.Minute, nil)
		if share := float64(w.late) / float64(w.reads); share > 0.01 {
			t.Errorf("%.1f %% of the reads took longer than 10 ms, want at most 1 %% (4 %% are slow, and some come in bunches)", 100*share)
		}
		if share := float64(w.fromPrimary) / float64(w.reads); share < 0.02 || share > 0.05 {
			t.Errorf("%.1f %% of the reads were read twice, want 2 to 5 %%", 100*share)
		}
		if got := w.replica.State().Limit; got != full || len(w.moves) > 0 || w.failed > 0 {
			t.Errorf("limit %d of %d, breaker %v, %d failed", got, full, w.moves, w.failed)
		}
	})
}

// rehearsal is the window's policy over a scripted replica and a healthy primary, at the 25 reads a second of the tests.
type rehearsal struct {
	resilience.NopObserver
	replica *resilience.Dependency
	script  *resiliencetest.Script

	mu                               sync.Mutex
	moves                            []resilience.BreakerState
	reads, late, failed, fromPrimary int
}

func newRehearsal(t *testing.T, phases ...resiliencetest.Phase) *rehearsal {
	t.Helper()
	cfg, w := defaults(t), &rehearsal{script: resiliencetest.NewScript(phases...)}
	primary, err := resilience.New("postgres-primary-reads", cfg.primaryReadPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.replica, err = resilience.New("postgres-replica", cfg.replicaPolicy(primary), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// OnTransition implements resilience.Observer.
func (w *rehearsal) OnTransition(e resilience.TransitionEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moves = append(w.moves, e.To)
}

// run reads for a time, and lets look see the state after each read was sent.
func (w *rehearsal) run(d time.Duration, look func(at time.Duration)) {
	var readers sync.WaitGroup
	for begun := time.Now(); time.Since(begun) < d; time.Sleep(40 * time.Millisecond) {
		readers.Go(w.read)
		if look != nil {
			look(time.Since(begun))
		}
	}
	readers.Wait()
}

func (w *rehearsal) read() {
	begun := time.Now()
	err := resilience.Do(context.Background(), w.replica, func(ctx context.Context) error {
		if !resilience.OnBackup(ctx) {
			return w.script.Call(ctx)
		}
		w.mu.Lock()
		w.fromPrimary++
		w.mu.Unlock()
		return resiliencetest.Answer(2 * time.Millisecond)(ctx)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if err != nil {
		w.failed++
	}
	if time.Since(begun) > 10*time.Millisecond {
		w.late++
	}
}
