package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/resilience"
)

func testPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 100 * time.Millisecond, Attempt: 100 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: 5},
		Breaker:  resilience.Breaker{FailureRatio: 0.5, MinCalls: 4, Window: 10 * time.Second, OpenFor: 10 * time.Second, Probes: 1},
	}
}

func newTestDependency(t *testing.T, s *Service, cfg resilience.Config) *resilience.Dependency {
	t.Helper()
	d, err := s.Dependency("pricing", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.runStops() })
	return d
}

func TestDependencyHasEverySeriesFromTheStart(t *testing.T) {
	s, log := newTestService(t, Program{})
	cfg := testPolicy()
	cfg.Timeout.Total, cfg.Retry = time.Second, resilience.Retry{Max: 2, Base: 10 * time.Millisecond, Cap: 100 * time.Millisecond}
	newTestDependency(t, s, cfg)
	metrics := s.scrape()
	for _, o := range resilience.Outcomes() {
		wantLine(t, metrics, fmt.Sprintf(`dependency_calls_total{dependency="pricing",outcome="%s",service="test"} 0`, o))
	}
	wantLine(t, metrics, `dependency_call_duration_seconds_count{dependency="pricing",outcome="success",service="test"} 0`)
	for _, o := range []string{"success", "retry", "exhausted", "not_retryable", "budget_denied"} {
		wantLine(t, metrics, fmt.Sprintf(`retry_attempts_total{dependency="pricing",outcome="%s",service="test"} 0`, o))
	}
	for _, move := range [][2]string{{"closed", "open"}, {"open", "half_open"}, {"half_open", "open"}, {"half_open", "closed"}} {
		wantLine(t, metrics, fmt.Sprintf(`circuit_breaker_state_changes_total{dependency="pricing",from_state="%s",service="test",to_state="%s"} 0`, move[0], move[1]))
	}
	for state, v := range map[string]string{"closed": "1", "open": "0", "half_open": "0"} {
		wantLine(t, metrics, fmt.Sprintf(`circuit_breaker_state{dependency="pricing",service="test",state="%s"} %s`, state, v))
	}
	for _, result := range []string{"success", "slow", "failure", "excluded", "not_permitted"} {
		wantLine(t, metrics, fmt.Sprintf(`circuit_breaker_calls_total{dependency="pricing",result="%s",service="test"} 0`, result))
	}
	wantLine(t, metrics, `bulkhead_rejected_total{dependency="pricing",service="test"} 0`)
	wantLine(t, metrics, `bulkhead_active_calls{dependency="pricing",service="test"} 0`)   // the two have the same labels, or
	wantLine(t, metrics, `bulkhead_max_concurrent{dependency="pricing",service="test"} 5`) // their ratio is empty
	wantLine(t, metrics, `retry_budget_tokens{dependency="pricing",service="test"}`)
	wantLine(t, metrics, `dependency_attempt_duration_seconds_count{dependency="pricing",service="test"} 0`)
	lines := log.lines("dependency")
	if len(lines) != 1 || !strings.Contains(fmt.Sprint(lines[0]["policy"]), "breaker   opens on 50 % failed (of 4 or more in 10s)") {
		t.Errorf("the policy is not logged: %v", lines)
	}
}

func TestSeriesOfALayerAreThereOnlyWithTheLayer(t *testing.T) {
	s, _ := newTestService(t, Program{})
	if _, err := s.Dependency("plain", resilience.Config{}); err != nil {
		t.Fatal(err)
	}
	cfg := testPolicy()
	cfg.Bulkhead, cfg.Adaptive = resilience.Bulkhead{}, resilience.Adaptive{Min: 5, Max: 40}
	cfg.Hedge = resilience.Hedge{MaxRatio: 0.05, Idempotent: true}
	d := newTestDependency(t, s, cfg)
	_ = resilience.Do(t.Context(), d, func(context.Context) error { return nil })
	metrics := s.scrape()
	wantLine(t, metrics, `adaptive_limit{dependency="pricing",service="test"} 40`)
	wantLine(t, metrics, `adaptive_limit_inflight{dependency="pricing",service="test"} 0`)
	wantLine(t, metrics, `adaptive_limit_min_rtt_seconds{dependency="pricing",service="test"} 0`)
	wantLine(t, metrics, `adaptive_limit_changes_total{dependency="pricing",direction="up",service="test"} 0`)
	wantLine(t, metrics, `adaptive_limit_changes_total{dependency="pricing",direction="down",service="test"} 0`)
	for _, o := range []string{"primary_won", "hedge_won", "both_failed", "suppressed"} {
		wantLine(t, metrics, fmt.Sprintf(`hedge_calls_total{dependency="pricing",outcome="%s",service="test"} 0`, o))
	}
	wantLine(t, metrics, `hedge_calls_total{dependency="pricing",outcome="not_needed",service="test"} 1`)
	wantLine(t, metrics, `retry_budget_tokens{dependency="pricing",service="test"}`)
	for line := range strings.Lines(grep(metrics, `dependency="plain"`)) {
		for _, layer := range []string{"adaptive_limit", "hedge_calls", "retry_budget", "circuit_breaker_held", "circuit_breaker_state{", "bulkhead_max"} {
			if strings.HasPrefix(line, layer) {
				t.Errorf("a layer that is not there has a series: %s", line)
			}
		}
	}
}

func TestDependencyCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newTestService(t, Program{})
		d := newTestDependency(t, s, testPolicy())
		for range 3 {
			_ = resilience.Do(t.Context(), d, func(context.Context) error { return nil })
		}
		for range 9 {
			_ = resilience.Do(t.Context(), d, func(context.Context) error { time.Sleep(time.Millisecond); return errors.New("no") })
		}
		synctest.Wait()
		metrics := s.scrape()
		wantLine(t, metrics, `dependency_calls_total{dependency="pricing",outcome="success",service="test"} 3`)
		wantLine(t, metrics, `dependency_calls_total{dependency="pricing",outcome="failure",service="test"} 3`) // 3 of 6: open
		wantLine(t, metrics, `dependency_calls_total{dependency="pricing",outcome="rejected_open",service="test"} 6`)
		wantLine(t, metrics, `circuit_breaker_calls_total{dependency="pricing",result="failure",service="test"} 3`)
		wantLine(t, metrics, `circuit_breaker_calls_total{dependency="pricing",result="not_permitted",service="test"} 6`)
		wantLine(t, metrics, `dependency_attempt_duration_seconds_count{dependency="pricing",service="test"} 6`)
		wantLine(t, metrics, `dependency_call_duration_seconds_count{dependency="pricing",outcome="failure",service="test"} 3`)
		if strings.Contains(metrics, `dependency_call_duration_seconds_count{dependency="pricing",outcome="rejected`) {
			t.Error("refused calls have a duration: an outage would look fast")
		}
		wantLine(t, metrics, `retry_attempts_total{dependency="pricing",outcome="exhausted",service="test"} 3`)
		wantLine(t, metrics, `circuit_breaker_state{dependency="pricing",service="test",state="open"} 1`)
		wantLine(t, metrics, `circuit_breaker_state{dependency="pricing",service="test",state="closed"} 0`)
		wantLine(t, metrics, `circuit_breaker_state_changes_total{dependency="pricing",from_state="closed",service="test",to_state="open"} 1`)
		if lines := log.lines("circuit breaker"); len(lines) != 1 || lines[0]["to"] != "open" || lines[0]["level"] != "WARN" || lines[0]["failures"] != 3.0 {
			t.Errorf("want one line per transition with its counts: %v", lines)
		}
		_ = s.runStops()
	})
}

func TestBulkheadRejectionsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		d := newTestDependency(t, s, testPolicy())
		release := make(chan struct{})
		for range 8 {
			go resilience.Do(t.Context(), d, func(context.Context) error { <-release; return nil })
		}
		synctest.Wait()
		metrics := s.scrape()
		wantLine(t, metrics, `bulkhead_active_calls{dependency="pricing",service="test"} 5`)
		wantLine(t, metrics, `bulkhead_rejected_total{dependency="pricing",service="test"} 3`)
		close(release)
		synctest.Wait()
		_ = s.runStops()
	})
}

func TestEveryAttemptEndsInOneOutcome(t *testing.T) {
	s, _ := newTestService(t, Program{})
	series := s.calls.prepare("pricing", &dependency{cfg: resilience.Config{Retry: resilience.Retry{Max: 2}}})
	for _, e := range []resilience.CallEvent{
		{Outcome: resilience.OutcomeSuccess, Attempts: 3}, {Outcome: resilience.OutcomeSlow, Attempts: 1}, {Outcome: resilience.OutcomeFailure, Attempts: 3},
		{Outcome: resilience.OutcomeFailure, Attempts: 1}, {Outcome: resilience.OutcomeRejectedBudget, Attempts: 1},
		{Outcome: resilience.OutcomeRejectedDeadline, Attempts: 2}, {Outcome: resilience.OutcomeRejectedOpen},
	} {
		series.call(e)
	}
	metrics := s.scrape()
	for outcome, n := range map[string]int{"success": 2, "retry": 5, "exhausted": 2, "not_retryable": 1, "budget_denied": 1} {
		wantLine(t, metrics, fmt.Sprintf(`retry_attempts_total{dependency="pricing",outcome="%s",service="test"} %d`, outcome, n))
	}
}

func TestDependencyWithAnImpossiblePolicy(t *testing.T) {
	s, _ := newTestService(t, Program{})
	cfg := testPolicy()
	cfg.Breaker.Window = time.Millisecond
	if _, err := s.Dependency("pricing", cfg); err == nil {
		t.Error("accepted")
	}
	if len(s.dependencies) > 0 {
		t.Error("kept")
	}
}

func TestStateIsShownToOperators(t *testing.T) {
	s, _ := newTestService(t, Program{})
	newTestDependency(t, s, testPolicy())
	w := httptest.NewRecorder()
	s.internalHandler().ServeHTTP(w, httptest.NewRequest("GET", "/resilience", nil))
	for _, part := range []string{`"service":"test"`, `"name":"pricing"`, `"breaker":"closed"`, `"limit":5`} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("no %s in %s", part, w.Body)
		}
	}
}

// TestNoDependencyOutlastsEveryRequest: REQUEST_TIMEOUT is 2 s unless a group of routes has more.
func TestNoDependencyOutlastsEveryRequest(t *testing.T) {
	for total, want := range map[time.Duration]string{
		2 * time.Second:                    "",
		4 * time.Second:                    "",
		4*time.Second + 1*time.Millisecond: "build test: resilience: pricing: Timeout.Total 4.001s exceeds the 4s of the longest request",
	} {
		ctx, stop := context.WithCancel(t.Context())
		stop() // it starts and stops at once, if it starts
		p := Program{Name: "test", Config: &testConfig{Base{PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", DrainDelay: time.Nanosecond}}}
		p.Build = func(s *Service) error {
			s.Router.Group(func(r chi.Router) { // as deep as the services have it
				r.With(Timeout(4*time.Second)).Post("/orders", func(http.ResponseWriter, *http.Request) {})
			})
			_, err := s.Dependency("pricing", resilience.Config{Timeout: resilience.Timeout{Total: total}})
			return err
		}
		got := ""
		if err := Run(ctx, nil, func(string) string { return "" }, io.Discard, p); err != nil {
			got = err.Error()
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("Total %v: %q, want %q", total, got, want)
		}
	}
}
