package main

import (
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// The budgets of a read for the shop window fit into each other: the page gives
// its attempt 80 ms, 5 of them go for the way, and what is left of 70 ms after a
// replica that hangs is ten times what the primary needs.
const (
	windowTotal   = 70 * time.Millisecond // for the read, whoever answers it
	replicaRead   = 50 * time.Millisecond // for the replica's part of it
	replicaSlow   = 25 * time.Millisecond // ten times the usual: better to ask the primary
	primaryRead   = 60 * time.Millisecond // for the primary's part
	primarySlow   = 45 * time.Millisecond // late, but still live, which is better than the page's snapshot
	windowHistory = 5 * time.Second       // long enough for 20 calls at 4 a second, short enough to judge today's replica
)

// replicaPolicy protects the shop window from the replica, which answers in 1 to 2
// ms. Article 1's timeline in one table: a slow fraction of the reads is hedged to
// the primary; when all are slow the limit shrinks first, then the breaker opens
// and the primary takes over. The backup has a breaker and limits of its own.
func (c *Config) replicaPolicy(primary *resilience.Dependency) resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: windowTotal, Attempt: replicaRead},
		Adaptive: resilience.Adaptive{Min: c.ReplicaMinReads, Max: c.ReplicaMaxReads, Floor: 10 * time.Millisecond},
		Hedge:    resilience.Hedge{MaxRatio: 0.05, Idempotent: true, Backup: primary},
		// A read that failed is read again from the primary, each one if need be: while the breaker is open the primary
		// carries all of them anyhow. Whatever ailed the replica (gone, behind, a conflict with recovery), it may not ail the primary.
		Retry: resilience.Retry{BudgetRatio: 1, When: func(error) bool { return true }},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: replicaSlow, MinCalls: 20, Window: windowHistory,
			ConsecutiveFailures: 5, OpenFor: 5 * time.Second, Probes: 1},
		Classify: classify,
	}
}

// replicaOptions: one connection more than the limit admits is for the
// thermometer (lag.go), which must be read when the replica is not well.
func (c *Config) replicaOptions() service.PostgresOptions {
	return service.PostgresOptions{
		MaxConns: c.ReplicaMaxReads + 1, MinConns: 8,
		StatementTimeout: replicaRead - 5*time.Millisecond, // a sick query ends on the server, and its connection lives
		RuntimeParams:    readOnly(), Prepare: []string{findStock},
	}
}

// primaryReadPolicy protects the primary from the shop window, and the page's time
// from the primary. It is apart from primaryPolicy, with connections of its own: a
// crowd at the window must not keep a customer from paying.
func (c *Config) primaryReadPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: primaryRead},
		Bulkhead: resilience.Bulkhead{Max: c.PrimaryReadConns},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: primarySlow, MinCalls: 20, Window: windowHistory,
			ConsecutiveFailures: 5, OpenFor: 2 * time.Second, Probes: 1},
		Classify: classify,
	}
}

// primaryReadOptions: open before the service is ready, because the first reads may need it and have no time to connect; one connection
// more than the bulkhead admits is for the probe.
func (c *Config) primaryReadOptions() service.PostgresOptions {
	return service.PostgresOptions{
		MaxConns: c.PrimaryReadConns + 1, MinConns: c.PrimaryReadConns, Critical: true,
		StatementTimeout: primaryRead - 5*time.Millisecond,
		RuntimeParams:    readOnly(), Prepare: []string{findStock},
	}
}

func readOnly() map[string]string { return map[string]string{"default_transaction_read_only": "on"} }
