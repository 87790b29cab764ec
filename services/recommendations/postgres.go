package main

import (
	"context"
	"embed"
	"strconv"
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
	pool             *pgxpool.Pool
	postgres         *resilience.Dependency
	statementTimeout time.Duration
}

func newStore(s *service.Service, cfg *Config) (*store, error) {
	options, policy := protected(cfg)
	if !cfg.Resilience {
		options, policy = naive(options)
	}
	pool, err := s.Postgres("postgres", cfg.DatabaseURL, options)
	if err != nil {
		return nil, err
	}
	postgres, err := s.Dependency("postgres", policy)
	if err == nil && cfg.Resilience {
		err = s.CheckPool(pool, postgres)
	}
	return &store{pool: pool, postgres: postgres, statementTimeout: options.StatementTimeout}, err
}

func protected(cfg *Config) (service.PostgresOptions, resilience.Config) {
	options := service.PostgresOptions{
		MaxConns:         cfg.MaxConns,
		MinConns:         cfg.MaxConns - 2, // a first crowd has no time to connect: half of a read is gone in the handshake
		StatementTimeout: cfg.StatementTimeout,
		Migrations:       migrations,
		Critical:         true,
		// A generic plan made once would keep serving warm connections after the statistics changed, while new ones suffer:
		// the same query fast and slow at once. Planning anew costs a fraction of a millisecond and behaves one way.
		RuntimeParams: map[string]string{"plan_cache_mode": "force_custom_plan"},
	}
	total := cfg.StatementTimeout + 200*time.Millisecond // statement_timeout speaks first, which keeps the connection
	return options, resilience.Config{
		Timeout:  resilience.Timeout{Total: total},
		Bulkhead: resilience.Bulkhead{Max: cfg.MaxConns - 1, MaxWait: 20 * time.Millisecond},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 200 * time.Millisecond, MinCalls: 20, Window: 10 * total,
			ConsecutiveFailures: 5, OpenFor: cfg.PostgresOpenFor, Probes: 1},
	}
}

// query runs one statement, in one round trip, and collects its rows. Postgres itself ends the statement shortly before the
// caller's time is up (SQLSTATE 57014): a context that ends first costs the connection, and a sick query would then cost
// every request one (github.com/jackc/pgx/issues/1780). The setting ends with the batch, which is one transaction.
func query[T any](ctx context.Context, s *store, row pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	return resilience.Call(ctx, s.postgres, func(ctx context.Context) (list []T, err error) {
		batch := &pgx.Batch{}
		batch.Queue("SELECT set_config('statement_timeout', $1, true)", timeLeft(ctx, s.statementTimeout))
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, row)
			return err
		})
		return list, s.pool.SendBatch(ctx, batch).Close()
	})
}

// timeLeft is the statement_timeout in milliseconds: what ctx leaves, less a quarter, at most most, at least 1 because 0 would
// mean no limit at all. A Postgres at its CPU limit is put to sleep for tens of milliseconds at a time and notices the end
// that much later: with a tenth, half of the connections were lost anyway; with a quarter, none.
func timeLeft(ctx context.Context, most time.Duration) string {
	if most == 0 { // naive: no limit at all
		return "0"
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		most = min(most, left-max(left/4, 5*time.Millisecond))
	}
	return strconv.FormatInt(max(1, most.Milliseconds()), 10)
}
