package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"watertight.example/pkg/resilience"
)

func TestErrorsBecomeTheRightAnswer(t *testing.T) {
	rejected := func(o resilience.Outcome, after time.Duration) error {
		return &resilience.Rejected{Dependency: "pricing", Outcome: o, RetryAfter: after}
	}
	for _, c := range []struct {
		name       string
		err        error
		status     int
		problem    string
		retryAfter string
	}{
		{"problem", NewProblem(422, "quote-expired", "Ask again."), 422, "quote-expired", ""},
		{"wrapped problem", fmt.Errorf("place: %w", NewProblem(404, "quote-not-found", "")), 404, "quote-not-found", ""},
		{"problem with a cause", NewProblem(422, "x", "").Wrap(context.DeadlineExceeded), 422, "x", ""},
		{"breaker open", rejected(resilience.OutcomeRejectedOpen, 7*time.Second), 503, "dependency-unavailable", "7"},
		{"bulkhead full", rejected(resilience.OutcomeRejectedLimit, 0), 503, "dependency-unavailable", "1"},
		{"no time to try", rejected(resilience.OutcomeRejectedDeadline, 0), 503, "deadline-exceeded", "1"},
		{"our attempt timed out", context.DeadlineExceeded, 503, "deadline-exceeded", "1"},
		{"upstream 500", &resilience.StatusError{Status: 500}, 503, "dependency-unavailable", "1"},
		{"upstream busy", fmt.Errorf("stock: %w", &resilience.StatusError{Status: 503, RetryAfter: 3 * time.Second}), 503, "dependency-unavailable", "3"},
		{"refused", &url.Error{Op: "Get", URL: "http://x", Err: syscall.ECONNREFUSED}, 503, "dependency-unavailable", "1"},
		{"garbage from upstream", fmt.Errorf("%w: html", ErrBadAnswer), 503, "dependency-unavailable", "1"},
		{"statement timeout", &pgconn.PgError{Code: "57014"}, 503, "dependency-unavailable", "1"},
		{"lock not available", &pgconn.PgError{Code: "55P03"}, 503, "dependency-unavailable", "1"},
		{"read-only Postgres", &pgconn.PgError{Code: "25006"}, 503, "dependency-unavailable", "1"},
		{"our SQL is wrong", &pgconn.PgError{Code: "42601"}, 500, "internal", ""},
		{"a constraint nobody expected", &pgconn.PgError{Code: "23505"}, 500, "internal", ""},
		{"body too large", &http.MaxBytesError{Limit: 10}, 413, "body-too-large", ""},
		{"a bug", errors.New("nil map of 10.0.0.7"), 500, "internal", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, log := newTestService(t, Program{})
			s.Router.Get("/", Handle(func(http.ResponseWriter, *http.Request) error { return c.err }))
			w := s.ask("GET", "/")
			wantProblem(t, w, c.status, c.problem)
			if got := w.Header().Get("Retry-After"); got != c.retryAfter {
				t.Errorf("Retry-After %q, want %q", got, c.retryAfter)
			}
			if strings.Contains(w.Body.String(), "10.0.0.7") {
				t.Errorf("leaks: %s", w.Body)
			}
			line := log.lines("request")[0]
			want := map[int]string{500: "ERROR", 503: "WARN"}[c.status]
			if line["level"] != cmp.Or(want, "DEBUG") || line["problem"] != "/problems/"+c.problem {
				t.Errorf("logged as %v", line)
			}
			if cause, _ := line["error"].(string); c.status >= 500 && !strings.Contains(cause, c.err.Error()) {
				t.Errorf("the log does not tell why: %v", line)
			}
		})
	}
}

func TestRetriedBelowMeansDoNotRetry(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Get("/retried", Handle(func(http.ResponseWriter, *http.Request) error {
		return &resilience.StatusError{Status: 503, DoNotRetry: true}
	}))
	s.Router.Get("/fresh", Handle(func(http.ResponseWriter, *http.Request) error { return &resilience.StatusError{Status: 503} }))
	for path, want := range map[string]string{"/retried": "1", "/fresh": ""} {
		if got := s.ask("GET", path).Header().Get(resilience.HeaderDoNotRetry); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
