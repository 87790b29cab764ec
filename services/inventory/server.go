package main

import (
	"context"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

// api is what the routes need.
type api struct {
	store   *store
	window  stockReader
	metrics *metrics
}

// build wires dependencies in, routes out and workers on.
func build(s *service.Service, cfg *Config) error {
	m := newMetrics(s.Metrics)
	snap, err := buildSnapshot(s, cfg, m)
	if err != nil {
		return err
	}
	st, err := buildStore(s, cfg, snap)
	if err != nil {
		return err
	}
	win, err := buildWindow(s, cfg, st)
	if err != nil {
		return err
	}
	ordersDep, err := s.Dependency("orders", ordersPolicy())
	if err != nil {
		return err
	}
	sw := &sweeper{store: st, orders: &orders{url: cfg.OrdersURL, dep: ordersDep}, metrics: m, log: s.Log}

	if !cfg.Resilience {
		naiveRoutes(s.Router)
	}
	routes(s.Router, &api{store: st, window: win, metrics: m})

	s.Go("snapshot-follow", snap.follow)
	s.Go("snapshot-pass", service.Every(cfg.SnapshotEvery, func(ctx context.Context) error { return snap.pass(ctx, st) }))
	s.Go("sweeper", service.Every(cfg.SweepEvery, sw.sweep))
	return nil
}

// routes are all endpoints of inventory.
func routes(r chi.Router, a *api) {
	r.Get("/stock", service.Handle(a.getStock))
	r.Route("/reservations/{order_id}", func(r chi.Router) {
		r.Get("/", service.Handle(a.getReservation))
		r.Post("/", service.Handle(a.reserve))
		r.Post("/commit", service.Handle(a.settle(Committed, "commit")))
		r.Post("/release", service.Handle(a.settle(Released, "release")))
	})
	r.Post("/restocks/{event_id}", service.Handle(a.restock))
}

func buildStore(s *service.Service, cfg *Config, snap *snapshot) (*store, error) {
	options, policy, hot := cfg.primaryOptions(), cfg.primaryPolicy(), newHotItems(cfg.PrimaryConns)
	if !cfg.Resilience {
		options, policy = naive(options)
		hot = nil
	}
	db, err := s.Postgres("postgres-primary", cfg.DatabaseURL, options)
	if err != nil {
		return nil, err
	}
	dep, err := s.Dependency("postgres-primary", policy)
	if err == nil && cfg.Resilience {
		err = s.CheckPool(db, dep)
	}
	return &store{db: db, dep: dep, hot: hot, hold: cfg.HoldTTL, moved: snap.moved}, err
}

func buildSnapshot(s *service.Service, cfg *Config, m *metrics) (*snapshot, error) {
	client, err := s.Redis("redis", cfg.RedisURL, redisOptions())
	if err != nil {
		return nil, err
	}
	dep, err := s.Dependency("redis", redisPolicy())
	return newSnapshot(client, dep, m, s.Log), err
}
