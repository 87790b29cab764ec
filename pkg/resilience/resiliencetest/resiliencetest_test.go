package resiliencetest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/resilience/resiliencetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func recommendations() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 500 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: 50},
		Breaker: resilience.Breaker{
			FailureRatio: 0.5, MinCalls: 20, Window: 10 * time.Second, ConsecutiveFailures: 5, OpenFor: 10 * time.Second,
		},
	}
}

// TestOpeningIncident replays the articles' opening incident and shows the timeline.
func TestOpeningIncident(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checker := resiliencetest.NewChecker(t)
		dep, err := resilience.New("recommendations", recommendations(), checker)
		if err != nil {
			t.Fatal(err)
		}
		defer dep.Close()
		script := resiliencetest.NewScript(
			resiliencetest.Phase{For: time.Minute, Do: resiliencetest.Answer(10 * time.Millisecond)},
			resiliencetest.Phase{For: time.Minute, Do: resiliencetest.Answer(4800 * time.Millisecond)},
			resiliencetest.Phase{Do: resiliencetest.Answer(10 * time.Millisecond)},
		)
		timeline := resiliencetest.Simulate(dep, script, resiliencetest.Load{Rate: 50, For: 3 * time.Minute, Every: 5 * time.Second})
		t.Logf("\n%s", timeline)

		for _, l := range timeline {
			switch {
			case l.At <= time.Minute && l.OK != l.Offered:
				t.Errorf("healthy at %v: %+v", l.At, l)
			case l.At > 70*time.Second && l.At <= 2*time.Minute && l.Failed > 1:
				t.Errorf("at %v: %d calls had to wait for nothing, want a probe at most", l.At, l.Failed)
			case l.At > 131*time.Second && l.OK != l.Offered:
				t.Errorf("recovered at %v: %+v", l.At, l)
			}
		}
		if _, _, peak := script.Calls(); peak > 50 {
			t.Errorf("%d calls at once", peak)
		}
		if !strings.Contains(timeline.String(), "open") || len(checker.Transitions()) < 3 {
			t.Error("the breaker did not open and close")
		}
		checker.Verify(dep)
	})
}

func TestScriptBehaviours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		errDown := errors.New("down")
		if err := resiliencetest.Fail(time.Millisecond, errDown)(ctx); err != errDown {
			t.Errorf("Fail: %v", err)
		}
		err := resiliencetest.Status(0, 503, time.Second)(ctx)
		if s, ok := errors.AsType[*resilience.StatusError](err); !ok || s.Status != 503 || s.RetryAfter != time.Second {
			t.Errorf("Status: %v", err)
		}
		one := 0
		mix := resiliencetest.Mix(1, 0.25, func(context.Context) error { one++; return nil }, resiliencetest.Answer(0))
		for range 1000 {
			mix(context.Background())
		}
		if one < 200 || one > 300 {
			t.Errorf("Mix: %d of 1000, want a quarter", one)
		}
		if err := resiliencetest.Hang()(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Hang: %v", err)
		}
		if err := resiliencetest.Stubborn(time.Second)(ctx); err != nil {
			t.Errorf("Stubborn: %v", err)
		}
		for name, b := range map[string]resiliencetest.Behaviour{"Panic": resiliencetest.Panic("boom"), "Goexit": resiliencetest.Goexit()} {
			ended := true
			var wait sync.WaitGroup
			wait.Go(func() {
				defer func() { _ = recover() }()
				b(ctx)
				ended = false
			})
			wait.Wait()
			if !ended {
				t.Errorf("%s: returned", name)
			}
		}
	})
}

// complaints is a testing.TB that only listens.
type complaints struct {
	testing.TB
	heard []string
}

func (c *complaints) Helper() {}
func (c *complaints) Errorf(format string, args ...any) {
	c.heard = append(c.heard, fmt.Sprintf(format, args...))
}

func TestCheckerFindsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &complaints{TB: t}
		checker := resiliencetest.NewChecker(c)
		dep, err := resilience.New("dep", resilience.Config{}, checker)
		if err != nil {
			t.Fatal(err)
		}
		go resilience.Do(t.Context(), dep, resiliencetest.Stubborn(time.Second))
		synctest.Wait()
		resp, err := (&http.Client{Transport: checker.Transport(nil)}).Get("http://upstream/")
		if err != nil {
			t.Fatal(err)
		}
		checker.OnTransition(resilience.TransitionEvent{From: resilience.BreakerOpen, To: resilience.BreakerClosed})
		checker.OnCall(t.Context(), resilience.CallEvent{Duration: -1})
		checker.Verify(dep)
		for _, want := range []string{"1 in flight", "1 attempts begun, 0 ended", "calls speak of 0 attempts", "1 response bodies opened, 0 closed", "a transition from open", "took -1ns"} {
			if !strings.Contains(strings.Join(c.heard, "\n"), want) {
				t.Errorf("did not complain of %q:\n%s", want, strings.Join(c.heard, "\n"))
			}
		}
		resp.Body.Close()
		time.Sleep(2 * time.Second)
	})
}

func TestCheckerIsContentWithAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checker := resiliencetest.NewChecker(t)
		cfg := recommendations()
		cfg.Timeout = resilience.Timeout{Total: 500 * time.Millisecond, Attempt: 200 * time.Millisecond}
		cfg.Retry = resilience.Retry{Max: 1, Base: 10 * time.Millisecond}
		cfg.Hedge = resilience.Hedge{MaxRatio: 0.05, Idempotent: true, MinSamples: 20}
		dep, err := resilience.New("dep", cfg, checker)
		if err != nil {
			t.Fatal(err)
		}
		defer dep.Close()
		ms := time.Millisecond
		script := resiliencetest.NewScript(
			resiliencetest.Phase{For: 20 * time.Second, Do: resiliencetest.Mix(1, 0.03, resiliencetest.Answer(150*ms), resiliencetest.Answer(5*ms))},
			resiliencetest.Phase{For: 20 * time.Second, Do: resiliencetest.Mix(2, 0.5, resiliencetest.Hang(), resiliencetest.Status(5*ms, 503, 0))},
			resiliencetest.Phase{Do: resiliencetest.Mix(3, 0.01, resiliencetest.Stubborn(300*ms), resiliencetest.Answer(5*ms))},
		)
		resiliencetest.Simulate(dep, script, resiliencetest.Load{Rate: 100, For: time.Minute, Budget: 400 * ms})
		time.Sleep(time.Second) // losers that ignore their context
		synctest.Wait()
		checker.Verify(dep)
		sum := 0
		for _, n := range checker.Outcomes() {
			sum += n
		}
		if sum != 6000 {
			t.Errorf("%d outcomes for 6000 calls", sum)
		}
	})
}
