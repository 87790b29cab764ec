//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// waitAccepts waits until a store takes a new connection and answers on it: from then on the rest is ours.
func (s *Stack) waitAccepts(t testing.TB, store string) {
	t.Helper()
	eventuallyIn(t, time.Minute, store+" accepts connections", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if store == "redis" {
			client := redis.NewClient(&redis.Options{Addr: s.ports.addr("redis", 6379)})
			defer client.Close()
			return client.Ping(ctx).Err() == nil
		}
		conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://auditor:auditor-demo@%s/postgres?sslmode=disable", s.ports.addr(store, 5432)))
		if err != nil {
			return false
		}
		defer conn.Close(ctx)
		return conn.Ping(ctx) == nil
	})
}
