package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

const replicaConns = 12 // as primaryConns: pool and bulkhead in one number

// replicaPolicy protects the replica, which answers the shop window in 1 to 2 ms.
// The page gives a stock read 80 ms: a replica that has not answered after 45 is
// given up while the primary can still be asked.
func replicaPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 45 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: replicaConns},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 30 * time.Millisecond, MinCalls: 20, Window: 5 * time.Second,
			ConsecutiveFailures: 5, OpenFor: 5 * time.Second, Probes: 1},
		Classify: classify,
	}
}

func replicaOptions() service.PostgresOptions {
	return service.PostgresOptions{
		MaxConns: replicaConns, MinConns: 4,
		StatementTimeout: 40 * time.Millisecond, // a sick query ends on the server, and its connection lives
		RuntimeParams:    map[string]string{"default_transaction_read_only": "on"},
	}
}

// window is what the shop window reads: the replica, and the primary when the
// replica is slow, gone or recovering. Both answers say how old they are.
type window struct {
	db      *pgxpool.Pool
	replica *resilience.Dependency
	primary *store
}

// Stock reads the counts of the given items, sorted by SKU. The primary is
// asked once and under its own policy: a dead replica cannot sink it.
func (w *window) Stock(ctx context.Context, skus []int32) (Stock, error) {
	st, err := resilience.Call(ctx, w.replica, func(ctx context.Context) (Stock, error) {
		return readStock(ctx, w.db, skus)
	})
	if err == nil {
		return st, nil
	}
	return w.primary.Stock(ctx, skus)
}
