package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

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
