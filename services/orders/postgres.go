package main

import (
	"embed"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

//go:embed migrations/*.sql
var migrations embed.FS

// store is this service's Postgres. Claims and reads go through the Dependency; what a claim has begun (Finish, Release) does
// not, because it must be ended also while the breaker holds back new work, and bounds itself.
type store struct {
	pool     *pgxpool.Pool
	postgres *resilience.Dependency
}

func newStore(s *service.Service, cfg *Config) (*store, error) {
	pool, err := s.Postgres("postgres", cfg.DatabaseURL, service.PostgresOptions{
		MaxConns:         cfg.PostgresConns,
		MinConns:         2,
		StatementTimeout: time.Second,
		Migrations:       migrations,
		Critical:         true,
	})
	if err != nil {
		return nil, err
	}
	postgres, err := s.Dependency("postgres", cfg.postgresPolicy())
	return &store{pool: pool, postgres: postgres}, err
}

// The time is a statement_timeout, which speaks first and keeps the connection, and the wait for a twin in flight. The bulkhead is
// wide, because twins wait inside it without a connection; the pool is what bounds Postgres' load. Nothing is shed after a claim.
// (So Service.CheckPool, which the other services ask about their pools, has no say here.)
func (c *Config) postgresPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 1500 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: c.PostgresMaxCalls, MaxWait: 50 * time.Millisecond},
		Breaker:  resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, Window: 15 * time.Second, ConsecutiveFailures: 5, OpenFor: c.PostgresOpenFor, Probes: 2},
		Classify: classify,
	}
}

// classify: that a key is in flight or was used for something else is an answer of a healthy Postgres.
func classify(err error) resilience.Outcome {
	if key, ok := errors.AsType[*idempotency.Refusal](err); ok && key.Name != idempotency.Unavailable {
		return resilience.OutcomeSuccess
	}
	return service.Classify(err)
}

// violates reports whether err is the violation of one named constraint.
func violates(err error, constraint string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.ConstraintName == constraint
}
