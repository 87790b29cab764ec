package main

import (
	"errors"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// primaryPolicy protects the primary: every write, and the reads that must be
// current. There is no fallback, because there is no second truth: the caller
// gets 503 with Retry-After. No retry either: orders repeats with the same id.
func (c *Config) primaryPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: time.Second},                                   // 2 ms is usual; the rest is waiting for a hot item's lock
		Bulkhead: resilience.Bulkhead{Max: c.PrimaryConns, MaxWait: 50 * time.Millisecond}, // a burst may wait as long as a few commits take
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 500 * time.Millisecond, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: 2 * time.Second, Probes: 1}, // opens early, asks soon: everything waits for this one
		Classify: classify,
	}
}

func (c *Config) primaryOptions() service.PostgresOptions {
	return service.PostgresOptions{
		MaxConns: c.PrimaryConns, MinConns: 4, Critical: true, Migrations: migrations(),
		// Below the call's own limit: a query that Postgres ends keeps its connection, one that we cut costs it.
		StatementTimeout: 900 * time.Millisecond,
	}
}

// classify: a refusal is an answer of a healthy database.
func classify(err error) resilience.Outcome {
	if isRefusal(err) {
		return resilience.OutcomeSuccess
	}
	return service.Classify(err)
}

func isRefusal(err error) bool {
	var short *ShortError
	var unknown *UnknownSKUError
	for _, refusal := range []error{ErrNotFound, ErrMismatch, ErrReleased, ErrCommitted, ErrRestocked, ErrContended} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return errors.As(err, &short) || errors.As(err, &unknown)
}
