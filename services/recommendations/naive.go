package main

import (
	"time"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// With RESILIENCE=off this is the service behind the naive product page: the same code on the same database, written as most are
// at first. Queries run until they end, any number of requests may wait for a connection, and nobody is ever turned away. It has
// to be its own instance, because the protection of this side would shield a page that has none.

// naiveTimeout is how long a request may take: the patience of an HTTP client that somebody has given a timeout at all.
const naiveTimeout = 30 * time.Second

func naive(options service.PostgresOptions) (service.PostgresOptions, resilience.Config) {
	options.StatementTimeout = 0
	options.RuntimeParams["statement_timeout"] = "0"
	return options, resilience.Config{}
}

func naiveRoutes(r chi.Router) { r.Use(service.Timeout(naiveTimeout)) }
