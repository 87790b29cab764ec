package service

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PostgresOptions says how a pool is sized and used. Zero values get the defaults named here.
type PostgresOptions struct {
	MaxConns         int               // default 8; over all replicas the sum must stay below the server's max_connections
	MinConns         int               // default 2; kept open, and opened before the service is ready if the pool is Critical
	StatementTimeout time.Duration     // default 1 s; set it just below the deadline of the calls, so that Postgres ends a query itself
	Migrations       fs.FS             // *.sql for goose, at the root or in migrations/; nil: none
	Critical         bool              // not ready while the database does not answer
	RuntimeParams    map[string]string // further settings of each session

	// Prepare lists the statements of a pool whose callers have tens of milliseconds: each connection prepares them before its
	// first use and is used without a ping. Otherwise a first query takes three round trips, a slow network makes it time out,
	// that costs the connection, and the next one begins anew. A dead connection costs one call, so have somebody else to ask.
	Prepare []string
}

const (
	defaultMaxConns         = 8
	defaultMinConns         = 2
	defaultStatementTimeout = time.Second
	connectTimeout          = 2 * time.Second
)

// Postgres makes a pool that connects when the database is there: a start-up task migrates the schema and opens MinConns
// connections, retried until it works; for a pool that is not Critical a background worker opens them. The pool has metrics
// with the label db=name and is closed at the end of the stop.
//
// A query is ended by StatementTimeout, not by the context, if both are set well: a context that ends in mid-query costs the
// connection (400 slow queries made 220 new connections that way, 8 with the timeout).
func (s *Service) Postgres(name string, url Secret, opt PostgresOptions) (*pgxpool.Pool, error) {
	cfg, err := opt.poolConfig(s.Name, url)
	if err != nil {
		return nil, fmt.Errorf("postgres %s: %w", name, err)
	}
	trips := newRoundTrips(name)
	cfg.ConnConfig.Tracer = trips
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, fmt.Errorf("postgres %s: %w", name, err)
	}
	s.OnStop("postgres "+name, func(context.Context) error { pool.Close(); return nil })
	s.Metrics.MustRegister(newPostgresCollector(name, pool), trips)
	if opt.Migrations != nil {
		s.Start(name+" migrations", func(ctx context.Context) error { return migrate(ctx, s.Log, cfg.ConnConfig, opt.Migrations) })
	}
	warmUp := func(ctx context.Context) error { return warm(ctx, pool, int(cfg.MinConns)) }
	if !opt.Critical { // a part that can be done without must not keep the service from starting
		s.Go(name, warmUp)
		return pool, nil
	}
	s.Start(name, warmUp)
	s.Ready(name, pool.Ping)
	return pool, nil
}

func (opt PostgresOptions) poolConfig(service string, url Secret) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url.Reveal())
	if err != nil {
		return nil, err // pgx hides the password in it
	}
	cfg.MaxConns = int32(cmp.Or(opt.MaxConns, defaultMaxConns))
	cfg.MinConns = int32(min(cmp.Or(opt.MinConns, defaultMinConns), int(cfg.MaxConns)))
	cfg.MaxConnLifetime = 30 * time.Minute      // picks up a new address or plan without a restart
	cfg.MaxConnLifetimeJitter = 5 * time.Minute // not all connections, of all replicas, in one second
	cfg.MaxConnIdleTime = 5 * time.Minute
	cfg.HealthCheckPeriod = 5 * time.Second // how soon MinConns is restored after the database was away
	cfg.PingTimeout = time.Second           // pgx has none; a frozen server would hold the caller for its whole deadline
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	params := cfg.ConnConfig.RuntimeParams
	params["application_name"] = service
	params["statement_timeout"] = strconv.FormatInt(cmp.Or(opt.StatementTimeout, defaultStatementTimeout).Milliseconds(), 10)
	params["idle_in_transaction_session_timeout"] = "10000" // ms; a lost client must not hold its locks
	maps.Copy(params, opt.RuntimeParams)
	if len(opt.Prepare) > 0 {
		cfg.AfterConnect = opt.prepare
		cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	}
	return cfg, nil
}

// prepare makes statements that are found by their text.
func (opt PostgresOptions) prepare(ctx context.Context, conn *pgx.Conn) error {
	for _, sql := range opt.Prepare {
		if _, err := conn.Prepare(ctx, sql, sql); err != nil {
			return err
		}
	}
	return nil
}

// warm opens n connections at once, so that the first customers do not pay for them.
func warm(ctx context.Context, pool *pgxpool.Pool, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTimeout)
	defer cancel()
	for range max(n, 1) {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release() // held until all are open
		if err := conn.Ping(ctx); err != nil {
			return err
		}
	}
	return nil
}
