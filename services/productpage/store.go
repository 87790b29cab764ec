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

// store is productpage's own Postgres. Nothing but the catalogue is in it.
type store struct {
	dep  *resilience.Dependency
	pool *pgxpool.Pool
}

// loadBudget bounds reading all products: 2,000 rows are some 600 kB and take about 10 ms.
const loadBudget = 2 * time.Second

func newStore(s *service.Service, cfg *Config) (*store, error) {
	dep, err := s.Dependency("postgres", resilience.Config{
		Timeout:  resilience.Timeout{Total: loadBudget},
		Bulkhead: resilience.Bulkhead{Max: cfg.PostgresMaxCalls},
		Breaker: resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, Window: 20 * time.Second,
			ConsecutiveFailures: 5, OpenFor: cfg.PostgresOpenFor, Probes: 1},
	})
	if err != nil {
		return nil, err
	}
	// Not critical: once the products are in memory the shop window stays open without their database.
	pool, err := s.Postgres("catalogue", cfg.DatabaseURL, service.PostgresOptions{
		MaxConns: cfg.PostgresMaxCalls, MinConns: 1, StatementTimeout: loadBudget - 200*time.Millisecond, Migrations: migrations,
	})
	if err != nil {
		return nil, err
	}
	return &store{dep: dep, pool: pool}, s.CheckPool(pool, dep)
}

const columns = "id, category, kind, name, description, material, colour, size"

// seed writes the products that are missing; what somebody has changed stays. Two replicas may do it at once.
//
// It is no call that anybody waits for: it happens once, before the service is ready, and the chassis repeats it until it has worked.
func (s *store) seed(ctx context.Context) error {
	products, err := generate()
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, p := range products {
		batch.Queue("INSERT INTO products ("+columns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
			p.ID, p.Category, p.Kind, p.Name, p.Description, p.Material, p.Colour, p.Size)
	}
	return s.pool.SendBatch(ctx, batch).Close()
}

// all reads the whole catalogue.
func (s *store) all(ctx context.Context) ([]Product, error) {
	return s.query(ctx, "SELECT "+columns+" FROM products ORDER BY id")
}

// one reads a single product; the slice is empty when there is none.
func (s *store) one(ctx context.Context, id int) ([]Product, error) {
	return s.query(ctx, "SELECT "+columns+" FROM products WHERE id = $1", id)
}

func (s *store) query(ctx context.Context, sql string, args ...any) ([]Product, error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) ([]Product, error) {
		rows, err := s.pool.Query(ctx, sql, args...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToStructByPos[Product])
	})
}
