package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// primaryConns is pool and bulkhead in one number: half a core of Postgres is
// busy long before twelve queries run, and who gets a slot gets a connection.
const primaryConns = 12

// primaryPolicy protects the primary: every write, and the reads that must be
// current. There is no fallback, because there is no second truth: the caller
// gets 503 with Retry-After. No retry either: orders repeats with the same id.
func primaryPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: time.Second},                                 // 2 ms is usual; the rest is waiting for a hot item's lock
		Bulkhead: resilience.Bulkhead{Max: primaryConns, MaxWait: 50 * time.Millisecond}, // a burst may wait as long as a few commits take
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 500 * time.Millisecond, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: 2 * time.Second, Probes: 1}, // opens early, asks soon: everything waits for this one
		Classify: classifyPostgres,
	}
}

func primaryOptions() service.PostgresOptions {
	return service.PostgresOptions{
		MaxConns: primaryConns, MinConns: 4, Critical: true, Migrations: migrations(),
		// Below the call's own limit: a query that Postgres ends keeps its connection, one that we cut costs it.
		StatementTimeout: 900 * time.Millisecond,
	}
}

// classifyPostgres says what an error tells of the database's health. A refusal
// is an answer. So is a complaint about our SQL or data (classes 22, 23, 42):
// our bug, and no reason to stop calling.
func classifyPostgres(err error) resilience.Outcome {
	var pg *pgconn.PgError
	switch {
	case err == nil, isRefusal(err):
		return resilience.OutcomeSuccess
	case errors.As(err, &pg):
		switch pg.Code[:2] {
		case "22", "23", "42":
			return resilience.OutcomeSuccess
		case "57": // 57014: our statement_timeout; the others: it is shutting down
			if pg.Code == "57014" {
				return resilience.OutcomeTimeout
			}
		}
		return resilience.OutcomeFailure
	case errors.Is(err, context.DeadlineExceeded):
		return resilience.OutcomeTimeout
	}
	return resilience.OutcomeFailure
}

func isRefusal(err error) bool {
	var short *ShortError
	var unknown *UnknownSKUError
	for _, refusal := range []error{ErrNotFound, ErrMismatch, ErrReleased, ErrCommitted, ErrContended} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return errors.As(err, &short) || errors.As(err, &unknown)
}
