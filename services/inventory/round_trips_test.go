package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// trips counts what a store sends; a batch goes as one.
type trips struct{ n atomic.Int64 }

func (c *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (c *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (c *trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// counted makes the store count its round trips.
func (s *store) counted(t testing.TB) *trips {
	t.Helper()
	c := &trips{}
	cfg := s.db.Config().Copy()
	cfg.ConnConfig.Tracer = c
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(t.Context()), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s.db = pool
	return c
}

// The whole life of an order's hold costs two round trips, one to make it and one to end it.
func TestRoundTrips(t *testing.T) {
	s, _ := newStore(t)
	sent := s.counted(t)
	id := uuid.New()
	for _, step := range []struct {
		name string
		do   func() error
		want int64
	}{
		{"reserve", func() error { _, err := s.Reserve(t.Context(), id, []Line{{1, 1}, {2, 1}, {42, 1}}); return err }, 1},
		{"reserve again", func() error { _, err := s.Reserve(t.Context(), id, []Line{{1, 1}, {2, 1}, {42, 1}}); return err }, 2},
		{"commit", func() error { _, err := s.Settle(t.Context(), id, Committed); return err }, 1},
		{"commit again", func() error { _, err := s.Settle(t.Context(), id, Committed); return err }, 1},
		{"tombstone", func() error { _, err := s.Settle(t.Context(), uuid.New(), Released); return err }, 1},
	} {
		before := sent.n.Load()
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if n := sent.n.Load() - before; n != step.want {
			t.Errorf("%s: %d round trips, want %d", step.name, n, step.want)
		}
	}
}

func TestAgain(t *testing.T) {
	deadlock := error(&pgconn.PgError{Code: "40P01"})
	serialization := error(&pgconn.PgError{Code: "40001"})
	for name, c := range map[string]struct {
		errs  []error // of the tries, in order; the last one repeats
		tries int
		want  error
	}{
		"fine":                     {[]error{nil}, 1, nil},
		"deadlock, then fine":      {[]error{deadlock, nil}, 2, nil},
		"serialization, then fine": {[]error{serialization, serialization, nil}, 3, nil},
		"contended":                {[]error{ErrContended, nil}, 2, nil},
		"for ever":                 {[]error{deadlock}, attempts, deadlock},
		"refused":                  {[]error{ErrMismatch}, 1, ErrMismatch},
		"connection lost":          {[]error{context.DeadlineExceeded}, 1, context.DeadlineExceeded}, // may have happened: not ours to repeat
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			_, err := again(t.Context(), func(context.Context) (int, error) {
				tries++
				return 0, c.errs[min(tries, len(c.errs))-1]
			})
			if tries != c.tries || !errors.Is(err, c.want) {
				t.Errorf("%s: %d tries, %v; want %d, %v", name, tries, err, c.tries, c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begin := time.Now()
		_, err := again(ctx, func(context.Context) (int, error) { cancel(); return 0, deadlock })
		if err == nil || time.Since(begin) != 0 {
			t.Errorf("a caller that left waited %v: %v", time.Since(begin), err)
		}
	})
}

// BenchmarkReserve compares all buyers on one item with buyers on many. The
// statement holds an item's lock while Postgres works and never while the
// network does, so the hot item costs its commits and nothing more.
func BenchmarkReserve(b *testing.B) {
	for name, pick := range map[string]func(n int64) int32{
		"hot":  func(int64) int32 { return 42 },
		"many": func(n int64) int32 { return 1 + int32(n%2000) },
	} {
		b.Run(name, func(b *testing.B) {
			s, _ := newStore(b)
			s.exec(b, `UPDATE items SET on_hand = 1000000000`)
			var n atomic.Int64
			var buyers sync.WaitGroup
			b.ResetTimer()
			for range s.db.Config().MaxConns {
				buyers.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						if _, err := s.Reserve(b.Context(), uuid.New(), []Line{{pick(i), 1}}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			buyers.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
		})
	}
}
