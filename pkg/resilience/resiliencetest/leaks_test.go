package resiliencetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/resilience/resiliencetest"
)

func made(t *testing.T, name string, cfg resilience.Config, obs resilience.Observer) *resilience.Dependency {
	t.Helper()
	d, err := resilience.New(name, cfg, obs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestSimulationSurvivesItsScript(t *testing.T) {
	for name, do := range map[string]resiliencetest.Behaviour{"panic": resiliencetest.Panic("boom"), "Goexit": resiliencetest.Goexit()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checker := resiliencetest.NewChecker(t)
				dep := made(t, "dep", resilience.Config{}, checker)
				timeline := resiliencetest.Simulate(dep, resiliencetest.NewScript(resiliencetest.Phase{Do: do}), resiliencetest.Load{Rate: 10, For: time.Second, Every: time.Second})
				if len(timeline) != 1 || timeline[0].Offered != 10 || timeline[0].Failed != 10 || timeline[0].Died != 10 {
					t.Errorf("ten calls that died are\n%s", timeline)
				}
				checker.Verify(dep)
			})
		})
	}
}

// TestCheckersOfADependencyAndItsBackup: each answers for what its own Dependency has begun.
func TestCheckersOfADependencyAndItsBackup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		onReplica, onPrimary := resiliencetest.NewChecker(t), resiliencetest.NewChecker(t)
		primary := made(t, "primary", resilience.Config{}, onPrimary)
		replica := made(t, "replica", resilience.Config{
			Timeout: resilience.Timeout{Total: time.Second},
			Breaker: resilience.Breaker{FailureRatio: 0.5, MinCalls: 5, OpenFor: time.Minute},
			Hedge:   resilience.Hedge{MaxRatio: 0.05, Idempotent: true, Backup: primary},
		}, onReplica)
		for range 20 {
			resilience.Do(t.Context(), replica, func(ctx context.Context) error {
				if resilience.OnBackup(ctx) {
					return nil
				}
				return errors.New("down")
			})
		}
		if n := onPrimary.Outcomes()[resilience.OutcomeSuccess]; n == 0 {
			t.Error("the backup was never asked")
		}
		onReplica.Verify(replica)
		onPrimary.Verify(primary)
	})
}

func TestCheckerFindsProbesAndGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &complaints{TB: t}
		checker := resiliencetest.NewChecker(c)
		cfg := recommendations()
		cfg.Timeout.Total = time.Hour
		cfg.Breaker.Window = 10 * time.Hour
		dep := made(t, "dep", cfg, checker)
		if err := dep.ForceOpen("", time.Millisecond); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		go resilience.Do(t.Context(), dep, resiliencetest.Stubborn(time.Minute))
		checker.Verify(dep)
		for _, want := range []string{"1 probes out", "a goroutine is still inside package resilience"} {
			if !strings.Contains(strings.Join(c.heard, "\n"), want) {
				t.Errorf("did not complain of %q:\n%s", want, strings.Join(c.heard, "\n"))
			}
		}
		time.Sleep(time.Hour)
		c.heard = nil
		resiliencetest.NewChecker(c).Verify(dep)
		if len(c.heard) != 0 {
			t.Errorf("complained when all was over: %q", c.heard)
		}
	})
}
