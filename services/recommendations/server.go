package main

import (
	"context"

	"watertight.example/pkg/service"
)

// build wires the stores in and the routes out.
func build(s *service.Service, cfg *Config) error {
	store, err := newStore(s, cfg)
	if err != nil {
		return err
	}
	s.Go("roll-in", func(ctx context.Context) error { return rollIn(ctx, store, cfg.RollInEvery, cfg.RollInBatch) })

	if !cfg.Resilience {
		naiveRoutes(s.Router)
	}
	s.Router.Get("/products/{id}/bought-together", service.Handle(showBoughtTogether(store)))
	s.Router.Get("/best-sellers", service.Handle(showBestSellers(store)))
	s.Router.Post("/purchases", service.Handle(recordPurchase(store)))
	s.Router.Get("/purchases/{event_id}", service.Handle(showPurchase(store)))
	return nil
}
