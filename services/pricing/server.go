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
	s.Go("purge", func(ctx context.Context) error { return purge(ctx, store, cfg.PurgeEvery, cfg.QuoteKeep) })

	s.Router.Get("/prices", service.Handle(showPrices(store)))
	s.Router.Post("/quotes", service.Handle(makeQuote(store, cfg.QuoteTTL)))
	s.Router.Get("/quotes/{quote_id}", service.Handle(showQuote(store)))
	return nil
}
