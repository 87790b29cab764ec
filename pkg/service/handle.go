package service

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"watertight.example/pkg/resilience"
)

// retrySoon is the Retry-After of a refusal whose end nobody knows.
const retrySoon = time.Second

// statusClientGone is what logs and metrics say when the client left before the answer (nginx's number; nobody receives it).
const statusClientGone = 499

// Handle turns a handler that returns an error into a net/http one. A *Problem is answered as it is; an error that means "a
// dependency is not there for us now" or "time is up" becomes a 503 with Retry-After; everything else is a bug: a bare 500.
// The error itself is in the request's log line.
//
// An error returned after the answer began cuts the connection, so that the client cannot take half an answer for a whole one.
func Handle(h func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		p := problemOf(r.Context(), err)
		if answerBegan(w) {
			scopeOf(r.Context()).problem = p
			panic(http.ErrAbortHandler)
		}
		if resilience.Final(err) { // retried here or further down: callers must not multiply that
			w.Header().Set(resilience.HeaderDoNotRetry, "1")
		}
		WriteProblem(w, r, p)
	}
}

// problemOf finds the answer for an error; the most specific reason wins.
func problemOf(ctx context.Context, err error) *Problem {
	var problem *Problem
	var rejected *resilience.Rejected
	var tooBig *http.MaxBytesError
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // whatever it was, it is no failure of ours
		return NewProblem(statusClientGone, "client-gone", "").Wrap(err)
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &tooBig):
		return bodyTooLarge(tooBig.Limit)
	case errors.As(err, &rejected):
		return fromRejected(rejected).Wrap(err)
	case errors.Is(err, context.DeadlineExceeded):
		return deadlineExceeded().Wrap(err)
	case isUnavailable(err):
		return unavailable(retryAfterOf(err)).Wrap(err)
	}
	return NewProblem(http.StatusInternalServerError, "internal", "Something went wrong on our side.").Wrap(err)
}

func fromRejected(rejected *resilience.Rejected) *Problem {
	if rejected.Outcome == resilience.OutcomeRejectedDeadline {
		return deadlineExceeded()
	}
	return unavailable(rejected.RetryAfter)
}

func deadlineExceeded() *Problem {
	return NewProblem(http.StatusServiceUnavailable, "deadline-exceeded", "There was not enough time to finish.").
		WithRetryAfter(retrySoon)
}

func unavailable(retryAfter time.Duration) *Problem {
	return NewProblem(http.StatusServiceUnavailable, "dependency-unavailable", "Something this needs is not available right now.").
		WithRetryAfter(max(retryAfter, retrySoon))
}

// isUnavailable reports whether the error tells of a dependency's state rather than of our own bug.
func isUnavailable(err error) bool {
	var status *resilience.StatusError
	var network net.Error // also *url.Error: refused, reset, EOF before an answer
	var connect *pgconn.ConnectError
	var postgres *pgconn.PgError
	switch {
	case errors.As(err, &status), errors.Is(err, ErrBadAnswer), errors.As(err, &network), errors.As(err, &connect):
		return true
	case errors.As(err, &postgres):
		return transientPostgres(postgres.Code)
	}
	return false
}

// transientPostgres knows the SQLSTATE codes that pass by themselves: connection trouble (08), too many connections (53),
// shutdown and statement timeout (57), serialization and deadlock (40), lock not available (55P03), read-only (25006): the server
// was demoted a moment ago, and whoever asks again finds its successor.
func transientPostgres(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code[:2] {
	case "08", "40", "53", "57":
		return true
	}
	return code == "55P03" || code == "25006"
}

func retryAfterOf(err error) time.Duration {
	var status *resilience.StatusError
	if errors.As(err, &status) {
		return status.RetryAfter
	}
	return 0
}
