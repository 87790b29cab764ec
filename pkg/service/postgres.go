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

	"watertight.example/pkg/resilience"
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
	// that costs the connection, and the next one begins anew. A connection that died silently costs one call, so have somebody
	// else to ask.
	Prepare []string
}

const (
	defaultMaxConns         = 8
	defaultMinConns         = 2
	defaultStatementTimeout = time.Second
	connectTimeout          = 2 * time.Second
)

// Postgres makes a pool that connects when the database is there: a start-up task migrates the schema and opens MinConns
// connections, retried until it works, or tried once for a pool that is not Critical. A background worker restores them within
// two seconds after the database was away, whether anybody asks it or not. The pool has metrics with the label db=name and is
// closed at the end of the stop.
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
	s.Go(name+" connections", Every(time.Second, func(ctx context.Context) error { tend(ctx, pool); return nil }))
	warmUp := func(ctx context.Context) error { return warm(ctx, pool, int(cfg.MinConns)) }
	if !opt.Critical {
		s.Start(name, s.unlessAway(name, warmUp))
		return pool, nil
	}
	s.Start(name, warmUp)
	s.Ready(name, pool.Ping)
	return pool, nil
}

// CheckPool fails when deps could together take more connections than the pool has, see [resilience.CheckShared]: then one of them
// starves the others in the pool's own queue. A service that is played without its bulkheads has none to compare.
func (s *Service) CheckPool(pool *pgxpool.Pool, deps ...*resilience.Dependency) error {
	if s.base.Without == Bulkhead {
		return nil
	}
	return resilience.CheckShared("the pool", int(pool.Config().MaxConns), deps...)
}

// unlessAway tries warmUp once: a part that can be done without must not keep the service from starting, but one that is there
// should be warm when the first customers come.
func (s *Service) unlessAway(name string, warmUp func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := warmUp(ctx); err != nil && ctx.Err() == nil {
			s.Log.Info("starts without", "dependency", name, "error", err)
		}
		return nil
	}
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
	cfg.HealthCheckPeriod = time.Second // how soon MinConns is restored after the database was away
	cfg.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) { return !hungUp(conn.PgConn().Conn()), nil }
	cfg.PingTimeout = time.Second // pgx has none; a frozen server would hold the caller for its whole deadline
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

// tend takes one connection and gives it back, by which the pool finds out what the other side has closed, and opens anew. While
// a breaker is open nobody else does, and its probe would meet a pool of dead connections with no time to connect.
func tend(ctx context.Context, pool *pgxpool.Pool) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if conn, err := pool.Acquire(ctx); err == nil { // otherwise whoever needs the database says so
		conn.Release()
	}
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
