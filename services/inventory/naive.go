package main

import (
	"context"
	"maps"
	"time"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// With RESILIENCE=off this is the service behind the naive product page: the
// same code on the same databases, written as most are at first. Queries run
// until they end, any number of requests may wait for a connection, and nobody
// is turned away. The replica is asked, and the primary only after an error.

// naiveTimeout is how long a request may take: the patience of an HTTP client
// that somebody has given a timeout at all.
const naiveTimeout = 30 * time.Second

func naive(options service.PostgresOptions) (service.PostgresOptions, resilience.Config) {
	params := map[string]string{"statement_timeout": "0"}
	maps.Copy(params, options.RuntimeParams)
	options.RuntimeParams = params
	return options, resilience.Config{Classify: classify}
}

// naiveWindow reads the replica for as long as that takes.
type naiveWindow struct {
	*window
	primary *store
}

// Stock implements stockReader.
func (n *naiveWindow) Stock(ctx context.Context, skus []int32) (Stock, error) {
	if st, err := n.window.Stock(ctx, skus); err == nil {
		return st, nil
	}
	return n.primary.Stock(ctx, skus)
}

func naiveRoutes(r chi.Router) { r.Use(service.Timeout(naiveTimeout)) }
