package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// window is what the shop window reads: the replica, and the primary when the
// replica is slow, behind, gone or recovering. Both answers say how old they are.
// A customer's own order and every write have nothing to do with it.
type window struct {
	replica *pgxpool.Pool
	primary *pgxpool.Pool
	dep     *resilience.Dependency // the replica; its hedge's backup is the primary
	lag     *lag
}

// Stock reads the counts of the given items, sorted by SKU.
func (w *window) Stock(ctx context.Context, skus []int32) (Stock, error) {
	return resilience.Call(ctx, w.dep, func(ctx context.Context) (Stock, error) {
		if resilience.OnBackup(ctx) {
			return readStock(ctx, w.primary, skus)
		}
		st, err := readStock(ctx, w.replica, skus)
		if err == nil {
			err = w.lag.replayed(st.AsOf)
		}
		return st, err
	})
}

// buildWindow wires both sides of the window, and the heartbeat that tells the age of one of them.
func buildWindow(s *service.Service, cfg *Config, st *store) (stockReader, error) {
	w, err := newWindow(s, cfg)
	if err != nil {
		return nil, err
	}
	w.lag.export(s.Metrics)
	s.Go("heartbeat", service.Every(cfg.HeartbeatEvery, func(ctx context.Context) error { return w.lag.beat(ctx, st) }))
	s.Go("replica-lag", service.Every(cfg.HeartbeatEvery, func(ctx context.Context) error { return w.lag.watch(ctx, w.replica) }))
	if !cfg.Resilience {
		return &naiveWindow{w, st}, nil
	}
	return w, nil
}

func newWindow(s *service.Service, cfg *Config) (w *window, err error) {
	w = &window{lag: &lag{most: cfg.ReplicaMaxLag}}
	options, policy := cfg.replicaOptions(), resilience.Config{}
	if cfg.Resilience {
		var backup *resilience.Dependency
		if w.primary, backup, err = primaryReads(s, cfg); err != nil {
			return nil, err
		}
		policy = cfg.replicaPolicy(backup)
	} else {
		options, policy = naive(options)
	}
	if w.replica, err = s.Postgres("postgres-replica", cfg.replicaURL(), options); err != nil {
		return nil, err
	}
	w.dep, err = s.Dependency("postgres-replica", policy)
	if err == nil && cfg.Resilience {
		err = s.CheckPool(w.replica, w.dep)
	}
	return w, err
}

func primaryReads(s *service.Service, cfg *Config) (*pgxpool.Pool, *resilience.Dependency, error) {
	db, err := s.Postgres("postgres-primary-reads", cfg.DatabaseURL, cfg.primaryReadOptions())
	if err != nil {
		return nil, nil, err
	}
	dep, err := s.Dependency("postgres-primary-reads", cfg.primaryReadPolicy())
	if err != nil {
		return nil, nil, err
	}
	return db, dep, s.CheckPool(db, dep)
}
