package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// The kinds of events, one receiver each.
const (
	kindCommit   = "commit_reservation" // to inventory
	kindPurchase = "purchase"           // to recommendations
	kindRestock  = "restock"            // to inventory, when an order is cancelled
)

func kinds() []string { return []string{kindCommit, kindPurchase, kindRestock} }

// api is what the routes need.
type api struct {
	store    *store
	placing  *placing
	returned func() // wakes the relay that returns goods
}

// routes are all endpoints of orders.
func routes(r chi.Router, a *api, placeTimeout time.Duration) {
	r.With(service.Timeout(placeTimeout)).Post("/orders", service.Handle(a.place))
	r.Get("/orders/{order_id}", service.Handle(a.show))
	r.Post("/orders/{order_id}/cancel", service.Handle(a.cancel))
	r.Get("/checkouts/{key}", service.Handle(a.showCheckout))
	r.Post("/resolve/{order_id}", service.Handle(a.resolve))
}

// build wires dependencies in, routes out and workers on.
func build(s *service.Service, cfg *Config) error {
	st, err1 := newStore(s, cfg)
	cache, err2 := newReplays(s, cfg)
	prices, err3 := newPricing(s, cfg)
	stock, err4 := newInventory(s, cfg)
	recs, err5 := newRecommendations(s, cfg)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	m := newMetrics(s.Metrics)
	keys, err := idempotency.New(st.pool, idempotency.Config{
		Lease: cfg.KeyLease, Wait: cfg.KeyWait, FinishTimeout: finishTimeout, Keep: cfg.KeyKeep, Cache: cache, Observe: m.key,
	})
	if err != nil {
		return err
	}
	outbox := relays(stock, recs, func(kind string, send sender) *relay { return newRelay(s, st, m, kind, cfg.RelayEvery, send) })
	place := &placing{keys: keys, store: st, pricing: prices, inventory: stock, work: cfg.WorkTimeout,
		placed: func() { outbox[kindCommit].poke(); outbox[kindPurchase].poke() }, metrics: m, log: s.Log}
	abandoned := &completer{keys: keys, placing: place, after: cfg.CompleteAfter, log: s.Log}

	routes(s.Router, &api{store: st, placing: place, returned: outbox[kindRestock].poke}, cfg.PlaceTimeout)
	for kind, r := range outbox {
		s.Go("relay-"+kind, r.run)
	}
	s.Go("completer", service.Every(cfg.CompleteEvery, abandoned.round))
	s.Go("reaper", service.Every(cfg.ReapEvery, func(ctx context.Context) error {
		_, err := resilience.Call(ctx, st.postgres, keys.Reap)
		return errors.Join(err, resilience.Do(ctx, st.postgres, func(ctx context.Context) error { return st.reap(ctx, cfg.KeyKeep) }))
	}))
	s.Go("outbox-metrics", func(ctx context.Context) error { return m.watch(ctx, st) })
	return nil
}

// sender delivers one event; an error is judged by verdict.go.
type sender func(ctx context.Context, e event) error

// relays makes one relay for each kind of event. This is where an event finds its receiver.
func relays(stock *inventory, recs *recommendations, build func(kind string, send sender) *relay) map[string]*relay {
	return map[string]*relay{
		kindCommit:   build(kindCommit, func(ctx context.Context, e event) error { return stock.commit(ctx, e.OrderID) }),
		kindPurchase: build(kindPurchase, func(ctx context.Context, e event) error { return recs.purchased(ctx, e.EventID, e.Payload) }),
		kindRestock:  build(kindRestock, func(ctx context.Context, e event) error { return stock.restock(ctx, e.EventID, e.OrderID) }),
	}
}
