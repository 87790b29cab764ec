package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service/servicetest"
	"watertight.example/pkg/storetest"
)

var testMigrations = fstest.MapFS{
	"migrations/00001_items.sql": {Data: []byte("-- +goose Up\nCREATE TABLE items (id int PRIMARY KEY);\nSELECT pg_sleep(0.2);\nINSERT INTO items VALUES (1);\n")},
	"migrations/00002_more.sql":  {Data: []byte("-- +goose Up\nINSERT INTO items VALUES (2);\n")},
}

func TestPostgresIsMigratedWarmAndMeasured(t *testing.T) {
	url := storetest.Postgres(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, _ := newStartingService(t, Program{})
	pool, err := s.Postgres("postgres", Secret(url), PostgresOptions{MaxConns: 5, MinConns: 3, StatementTimeout: 150 * time.Millisecond,
		Migrations: testMigrations, Critical: true, RuntimeParams: map[string]string{"work_mem": "8MB"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range s.startup { // a migration of 200 ms is not ended by the statement timeout of 150 ms
		if err := task.run(t.Context()); err != nil {
			t.Fatalf("%s: %v", task.name, err)
		}
	}
	if n := pool.Stat().TotalConns(); n < 3 {
		t.Errorf("%d connections before the first request, want 3", n)
	}
	var app, mem string
	var items int
	err = pool.QueryRow(t.Context(), "SELECT current_setting('application_name'), current_setting('work_mem'), (SELECT count(*) FROM items)").Scan(&app, &mem, &items)
	if err != nil || app != "test" || mem != "8MB" || items != 2 {
		t.Errorf("%s, %s, %d items, %v", app, mem, items, err)
	}
	var ended *pgconn.PgError
	if _, err := pool.Exec(t.Context(), "SELECT pg_sleep(30)"); !errors.As(err, &ended) || ended.Code != "57014" {
		t.Errorf("a slow query: %v", err)
	}
	metrics := s.scrape()
	wantLine(t, metrics, `pgxpool_max_conns{db="postgres",service="test"} 5`)
	wantLine(t, metrics, `pgxpool_acquired_conns{db="postgres",service="test"} 0`)
	wantLine(t, metrics, `postgres_round_trips_total{db="postgres",service="test"} `)
	wantLine(t, metrics, `pgxpool_canceled_acquire_total{db="postgres",service="test"} 0`)
	if missing := s.health.check(); len(missing) > 0 {
		t.Errorf("missing %v", missing)
	}
	if err := s.runStops(); err != nil {
		t.Error(err)
	}
	if missing := s.health.check(); len(missing) != 1 {
		t.Errorf("a closed pool is ready: %v", missing)
	}
}

// A query is one round trip, and so is a batch of two.
func TestRoundTripsAreCounted(t *testing.T) {
	cfg, err := PostgresOptions{}.poolConfig("test", Secret(storetest.Postgres(t)))
	if err != nil {
		t.Fatal(err)
	}
	trips := newRoundTrips("postgres")
	cfg.ConnConfig.Tracer = trips
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var two pgx.Batch
	two.Queue("SELECT 1")
	two.Queue("SELECT 2")
	_, err = pool.Exec(t.Context(), "SELECT 1")
	if err := errors.Join(err, pool.SendBatch(t.Context(), &two).Close()); err != nil {
		t.Fatal(err)
	}
	if n := testutil.ToFloat64(trips); n != 2 {
		t.Errorf("%v round trips, want 2", n)
	}
}

// A connection that is new knows the pool's statements already: its first use is one round trip, also after a pause.
func TestStatementsArePreparedBeforeTheFirstUse(t *testing.T) {
	const sql = "SELECT $1::int + 1"
	s, _ := newStartingService(t, Program{})
	pool, err := s.Postgres("postgres", Secret(storetest.Postgres(t)), PostgresOptions{Prepare: []string{sql}})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var prepared, answer int
	count := "SELECT count(*) FROM pg_prepared_statements WHERE statement = '" + sql + "'"
	for _, moment := range []string{"before", "after"} {
		if err := pool.QueryRow(t.Context(), count).Scan(&prepared); err != nil || prepared != 1 {
			t.Errorf("%s its first use the statement is prepared %d times, %v", moment, prepared, err)
		}
		if err := pool.QueryRow(t.Context(), sql, 41).Scan(&answer); err != nil || answer != 42 {
			t.Errorf("%d, %v", answer, err)
		}
	}
}

func TestOptionalPostgresKeepsNobodyFromStarting(t *testing.T) {
	in := servicetest.Start(t, program(func(s *Service) error {
		_, err := s.Postgres("replica", "postgres://u@127.0.0.1:1/x", PostgresOptions{})
		return err
	}), nil)
	in.WaitReady(t)
}

func TestWarmOpensAllItsConnections(t *testing.T) {
	cfg, err := PostgresOptions{}.poolConfig("test", Secret(storetest.Postgres(t)))
	if err != nil {
		t.Fatal(err)
	}
	cfg.MinConns = 0 // so that the pool opens none by itself
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := warm(t.Context(), pool, 3); err != nil || pool.Stat().TotalConns() != 3 {
		t.Errorf("%d connections, %v", pool.Stat().TotalConns(), err)
	}
}

func TestReplicasMigrateOnce(t *testing.T) {
	url := storetest.Postgres(t)
	cfg, err := PostgresOptions{}.poolConfig("test", Secret(url))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var log testLog
	for range 4 {
		wg.Go(func() {
			if err := migrate(t.Context(), newLogger(&log, "test", 0), cfg.ConnConfig, testMigrations); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := log.count("migrated"); n != 2 {
		t.Errorf("%d migrations run by 4 replicas, want each of 2 once\n%s", n, &log)
	}
}

// The service is started first, its database appears later.
func TestServiceWaitsForItsDatabase(t *testing.T) {
	url := storetest.Postgres(t)
	target, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	late := l.Addr().String()
	l.Close()
	in := servicetest.Start(t, program(func(s *Service) error {
		_, err := s.Postgres("postgres", Secret(fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", target.ConnConfig.User, target.ConnConfig.Password, late, target.ConnConfig.Database)),
			PostgresOptions{Migrations: testMigrations, Critical: true})
		return err
	}), nil)
	for !strings.Contains(in.Log(), `"msg":"waiting"`) {
		time.Sleep(time.Millisecond) // a poll; the start-up task fails at its first try
	}
	stop := forward(t, late, fmt.Sprintf("%s:%d", target.ConnConfig.Host, target.ConnConfig.Port))
	defer stop()
	in.WaitReady(t)
	if strings.Contains(in.Log(), target.ConnConfig.Password+"@") {
		t.Error("the password is in the log")
	}
}

// forward accepts on from and connects to to.
func forward(t *testing.T, from, to string) (stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", from)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				a.Close()
				continue
			}
			go func() { defer a.Close(); defer b.Close(); pump(a, b) }()
			go func() { defer a.Close(); defer b.Close(); pump(b, a) }()
		}
	}()
	return func() { l.Close() }
}

func pump(dst, src net.Conn) {
	buffer := make([]byte, 1<<15)
	for {
		n, err := src.Read(buffer)
		if err != nil {
			return
		}
		if _, err := dst.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestPostgresURLErrorHidesThePassword(t *testing.T) {
	s, _ := newStartingService(t, Program{})
	for _, url := range []Secret{"postgres://u:hunter2@db:notaport/x", "host=db password=hunter2 port=x", "postgres://u:hunter2@db/x?pool_max_conns=x"} {
		if _, err := s.Postgres("postgres", url, PostgresOptions{}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestPostgresThatIsAwayFailsFast(t *testing.T) {
	cfg, err := PostgresOptions{}.poolConfig("test", "postgres://u@127.0.0.1:1/x")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.MaxConns != defaultMaxConns || cfg.MinConns != defaultMinConns || cfg.ConnConfig.RuntimeParams["statement_timeout"] != "1000" ||
		cfg.PingTimeout == 0 || cfg.MaxConnLifetimeJitter == 0 || cfg.ConnConfig.ConnectTimeout != connectTimeout {
		t.Errorf("defaults: %+v", cfg)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := warm(t.Context(), pool, 2); err == nil {
		t.Error("warm without a database")
	}
}

func TestAPoolMustHoldWhatItsDependenciesMayTake(t *testing.T) {
	for _, c := range []struct {
		without Pattern
		most    int
		refused bool
	}{{"", 8, false}, {"", 9, true}, {Bulkhead, 9, false}} {
		s, _ := newStartingService(t, Program{})
		s.base.Without = c.without
		pool, err := s.Postgres("postgres", "postgres://u@127.0.0.1:1/x", PostgresOptions{MaxConns: 8})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		dep, err := s.Dependency("postgres", resilience.Config{Timeout: resilience.Timeout{Total: time.Second}, Bulkhead: resilience.Bulkhead{Max: c.most}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CheckPool(pool, dep); (err != nil) != c.refused {
			t.Errorf("without %q, %d of 8: %v", c.without, c.most, err)
		}
	}
}
