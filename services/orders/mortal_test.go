package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/idempotency"
)

// mortal is an instance that can be stopped dead between any two of its steps. To the world, a process that was killed is
// one from which nothing comes any more: so from the moment of its death its connections to Postgres are closed, its requests to
// neighbours and to Redis go nowhere, and its answer reaches nobody. Production code needs no hook for this.
//
// Points are named "before" or "after" and a step: claim, takeover, renew, release, finish, lease, settle (statements of ours),
// quote, reserve, commit, purchase, restock (requests to others), remember (the write to Redis). "after" means that it has happened there.
type mortal struct {
	*placing
	pool    *pgxpool.Pool
	redis   *replays
	relays  map[string]*relay
	mu      sync.Mutex
	on      map[string]func() // what happens at a point, once
	dead    bool
	losing  func() bool // Postgres' answers are lost from when this is true
	reached []string
}

var errDead = errors.New("this process is dead")

// at passes a point. It returns errDead in a dead process.
func (m *mortal) at(point string) error {
	m.mu.Lock()
	if m.dead {
		m.mu.Unlock()
		return errDead
	}
	m.reached = append(m.reached, point)
	happens := m.on[point]
	delete(m.on, point)
	m.mu.Unlock()
	if happens != nil {
		happens()
	}
	return m.alive()
}

func (m *mortal) alive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDead
	}
	return nil
}

func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
}

// mortal starts an instance that dies at a point; "" for one that lives.
func (s *shop) mortal(dieAt string) *mortal {
	s.t.Helper()
	m := &mortal{on: map[string]func(){}}
	if dieAt != "" {
		m.on[dieAt] = m.die
	}
	cfg, err := pgxpool.ParseConfig(s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.ConnConfig.Tracer = statements{m}
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if err := m.alive(); err != nil {
			return nil, err
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return mortalConn{m, conn}, err
	}
	if m.pool, err = pgxpool.NewWithConfig(s.t.Context(), cfg); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(m.pool.Close)
	m.placing = s.patient(m.pool)
	m.redis = &replays{client: redisClient(s.t, s.redis), dep: m.store.postgres} // any dependency without a time limit
	m.keys, err = idempotency.New(m.pool, idempotency.Config{Lease: 3 * time.Hour, Wait: -1, StoreTimeout: time.Hour,
		FinishTimeout: time.Hour, CacheTimeout: time.Hour, Cache: mortalCache{m}})
	if err != nil {
		s.t.Fatal(err)
	}
	m.pricing.url, m.inventory.url = m.gate(s.t, s.pricing.URL), m.gate(s.t, s.inventory.URL)
	recs := &recommendations{url: m.gate(s.t, s.recs.URL), dep: m.inventory.dep}
	m.relays = relays(m.inventory, recs, func(kind string, send sender) *relay {
		return &relay{kind: kind, store: m.store, send: send, idle: time.Hour, wake: make(chan struct{}, 1), metrics: m.metrics, log: slog.New(slog.DiscardHandler)}
	})
	return m
}

// ask is a request to this process, and what its client hears: nothing, when it died.
func (m *mortal) ask(ctx context.Context, key string, in placement) (idempotency.Answer, error) {
	answer, err := m.place(ctx, key, in)
	if dead := m.alive(); dead != nil {
		return idempotency.Answer{}, dead
	}
	return answer, err
}

// gate stands between the process and a neighbour.
func (m *mortal) gate(t *testing.T, target string) string {
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	step := func(r *http.Request) string {
		path := r.URL.Path
		switch {
		case strings.HasPrefix(path, "/quotes"):
			return "quote"
		case strings.HasPrefix(path, "/purchases"):
			return "purchase"
		case strings.HasPrefix(path, "/restocks"):
			return "restock"
		case strings.HasSuffix(path, "/commit"):
			return "commit"
		}
		return "reserve"
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(r *http.Response) error { return m.at("after " + step(r.Request)) },
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.at("before "+step(r)) != nil {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// mortalConn is the process's line to Postgres.
type mortalConn struct {
	m *mortal
	net.Conn
}

func (c mortalConn) Write(p []byte) (int, error) {
	if err := c.m.alive(); err != nil {
		c.Close()
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c mortalConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.m.mu.Lock()
	losing := c.m.losing
	c.m.mu.Unlock()
	if losing != nil && losing() { // Postgres answers a commit after it is visible, so the answer itself never slips through
		c.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// mortalCache is the process's line to Redis.
type mortalCache struct{ m *mortal }

func (c mortalCache) Get(ctx context.Context, key string) ([]byte, error) {
	if err := c.m.alive(); err != nil {
		return nil, err
	}
	return c.m.redis.Get(ctx, key)
}

func (c mortalCache) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if err := c.m.at("before remember"); err != nil {
		return err
	}
	if err := c.m.redis.Set(ctx, key, value, ttl); err != nil {
		return err
	}
	return c.m.at("after remember")
}

// statements is a pgx tracer that names what is sent to Postgres.
type statements struct{ m *mortal }

type statementKey struct{}

func (s statements) start(ctx context.Context, sql string) context.Context {
	step := ""
	for _, known := range []struct{ text, step string }{
		{"INSERT INTO idempotency_keys", "claim"},
		{"SET attempt = k.attempt + 1", "takeover"},
		{"SET operation_id", "renew"},
		{"UPDATE idempotency_keys SET lease_until", "release"},
		{"idempotency_finish(", "finish"},
		{"SET attempts = attempts + 1", "lease"},
		{"UPDATE outbox SET done_at", "settle"},
		{"SET state = 'cancelled'", "cancel"},
	} {
		if strings.Contains(sql, known.text) {
			step = known.step
			break
		}
	}
	if step != "" {
		_ = s.m.at("before " + step) // a dead process finds its connection closed
	}
	return context.WithValue(ctx, statementKey{}, step)
}

func (s statements) end(ctx context.Context, err error) {
	if step, _ := ctx.Value(statementKey{}).(string); step != "" && err == nil {
		_ = s.m.at("after " + step)
	}
}

func (s statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return s.start(ctx, data.SQL)
}

func (s statements) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	s.end(ctx, data.Err)
}

func (s statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	return s.start(ctx, data.Batch.QueuedQueries[0].SQL)
}

func (s statements) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (s statements) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	s.end(ctx, data.Err)
}
