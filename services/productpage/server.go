package main

import (
	"context"
	"errors"
	"html/template"
	"net/http"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

// shop is the service: its sources, and what it needs to make pages of them.
type shop struct {
	*service.Service
	contract        contract
	naive           bool
	unforgiving     bool // RESILIENCE_WITHOUT=fallback: a page that lacks a part is none
	catalogue       *catalogue
	pricing         *pricing
	inventory       *inventory
	recommendations *recommendations
	orders          *orders
	customers       *customers
	pages           map[string]*template.Template
	assets          map[string]asset
	problems        map[string]explanation
}

// build wires the sources in and the routes out.
func build(s *service.Service, cfg *Config, c contract) error {
	sh, err := newShop(s, cfg, c)
	if err != nil {
		return err
	}
	secure(s.Headers)
	s.ErrorPage = sh.errorPage
	for _, route := range []string{"/", "/products/{id}", "/checkout"} {
		s.CanDegrade(route, string(stale), string(standIn), string(missing))
	}
	s.NothingBehind("/pictures/{id}.svg", "/static/*", "/problems/{name}", "/how-an-order-is-placed", "/sequences/{name}.svg")
	s.Start("seed", sh.catalogue.store.seed)
	s.Start("catalogue", sh.catalogue.refresh)
	s.Go("catalogue", sh.catalogue.keepFresh)
	s.Go("best sellers", func(ctx context.Context) error {
		return sh.recommendations.keepBestSellers(ctx, cfg.BestSellersEvery)
	})
	sh.routes(s.Router)
	return nil
}

// routes are all addresses of the shop.
func (s *shop) routes(router chi.Router) {
	router.Get("/pictures/{id}.svg", service.Handle(s.showPicture))
	router.Get("/static/*", service.Handle(s.showAsset))
	router.Get("/problems/{name}", service.Handle(s.showProblem))
	router.Get("/how-an-order-is-placed", service.Handle(s.showHowOrders))
	router.Get("/sequences/{name}.svg", service.Handle(s.showSequence))

	router.Group(func(r chi.Router) {
		r.Use(service.Timeout(s.contract.page))
		r.Get("/", service.Handle(s.showHome))
		r.Get("/products/{id}", service.Handle(s.showProduct))
	})
	router.Group(func(r chi.Router) {
		r.Use(private, service.Timeout(s.contract.look))
		r.Get("/checkout", service.Handle(s.showCheckout))
		r.Get("/checkout/{key}", service.Handle(s.showProgress))
		r.Get("/orders/{id}", service.Handle(s.showOrder))
	})
	router.Group(func(r chi.Router) {
		r.Use(private, sameOrigin(), service.Timeout(s.contract.checkout))
		r.Post("/checkout", service.Handle(s.postCheckout))
		r.Post("/orders/{id}/cancel", service.Handle(s.postCancel))
	})
}

func newShop(s *service.Service, cfg *Config, c contract) (*shop, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	st, err := newStore(s, cfg)
	if err != nil {
		return nil, err
	}
	snap, err := newSnapshot(s, cfg)
	if err != nil {
		return nil, err
	}
	sh := &shop{Service: s, contract: c, customers: newCustomers(s, cfg), unforgiving: cfg.Without == service.Fallback}
	var problems [5]error // each constructor is told apart in its own error
	sh.catalogue, problems[0] = newCatalogue(st, cfg.CatalogueEvery, c.catalogue)
	sh.pricing, problems[1] = newPricing(s, cfg, c.price)
	sh.inventory, problems[2] = newInventory(s, cfg, c.stock, snap)
	sh.recommendations, problems[3] = newRecommendations(s, cfg, c.recommendations)
	sh.orders, problems[4] = newOrders(s, cfg, c)
	if err := errors.Join(errors.Join(problems[:]...), sh.loadLook()); err != nil {
		return nil, err
	}
	if sh.naive = !bool(cfg.Resilience); sh.naive {
		sh.shareOnePool()
	}
	return sh, nil
}

// loadLook reads what pages are made with; all of it is inside the binary.
func (s *shop) loadLook() (err error) {
	if s.assets, err = loadAssets(); err != nil {
		return err
	}
	if s.pages, err = loadTemplates(s.assets); err != nil {
		return err
	}
	s.problems, err = loadProblems()
	return err
}

// secure sets the headers of every answer. There is no script in the shop, so none is allowed: not ours, not an injected one.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// private keeps a customer's pages out of every cache, the browser's included.
func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses a form that another site's page sends in the customer's name (Sec-Fetch-Site, or Origin for older
// browsers).
func sameOrigin() func(http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service.WriteProblem(w, r, service.NewProblem(http.StatusForbidden, "cross-origin", "Orders are taken from our own pages only."))
	}))
	return protection.Handler
}
