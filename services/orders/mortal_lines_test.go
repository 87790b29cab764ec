package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The lines of a mortal process to the world: each passes the points on its way, and is dead when the process is.

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
