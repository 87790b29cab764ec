package main

import (
	"context"
	"embed"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

//go:embed migrations/*.sql
var migrations embed.FS

// store is this service's Postgres: the pool, and the policy under which it is asked.
type store struct {
	pool     *pgxpool.Pool
	postgres *resilience.Dependency
}

func newStore(s *service.Service, cfg *Config) (*store, error) {
	pool, err := s.Postgres("postgres", cfg.DatabaseURL, service.PostgresOptions{
		MaxConns:         cfg.MaxConns,
		MinConns:         cfg.MaxConns - 2, // a first crowd has no time to connect: half of a read is gone in the handshake
		StatementTimeout: cfg.StatementTimeout,
		Migrations:       migrations,
		Critical:         true,
	})
	if err != nil {
		return nil, err
	}
	total := cfg.StatementTimeout + 200*time.Millisecond // statement_timeout speaks first, which keeps the connection
	postgres, err := s.Dependency("postgres", resilience.Config{
		Timeout:  resilience.Timeout{Total: total},
		Bulkhead: resilience.Bulkhead{Max: cfg.MaxConns - 1, MaxWait: 20 * time.Millisecond},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 200 * time.Millisecond, MinCalls: 20, Window: 10 * total,
			ConsecutiveFailures: 5, OpenFor: cfg.PostgresOpenFor, Probes: 1},
	})
	if err != nil {
		return nil, err
	}
	return &store{pool: pool, postgres: postgres}, s.CheckPool(pool, postgres)
}

// query runs one statement and collects its rows.
func query[T any](ctx context.Context, s *store, row pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	return resilience.Call(ctx, s.postgres, func(ctx context.Context) ([]T, error) {
		rows, err := s.pool.Query(ctx, sql, args...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, row)
	})
}
