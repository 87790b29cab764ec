package main

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

// source says where a part came from, from best to worst. The text is the metric's reason.
type source string

const (
	live    source = "live"
	stale   source = "stale"          // an older, true answer about the same product
	standIn source = "fallback_cache" // something else that fits
	missing source = "fallback_empty"
)

// page is what was gathered about one product.
type page struct {
	Product         Product
	Price           *Price // nil: none to show
	Stock           *Stock // nil: nobody knows
	Recommendations []Recommendation
	Sources         sources
}

// sources tells where each part came from.
type sources struct{ price, stock, recommendations source }

// Recommendation is a product that goes with the one shown. Its price is left out when it did not come in time.
type Recommendation struct {
	Product Product
	Price   *Price
}

// gather is what this service is for: one page from four sources in half a second, also when some of them are slow, wrong or gone
// (article 1, "timeout budgets" and "graceful degradation").
//
// It fetches all parts side by side. It always returns a page, within the contract: each part has its own budget inside it,
// and its own fallback.
func (s *shop) gather(ctx context.Context, p Product) page {
	ctx, cancel := context.WithTimeout(ctx, s.contract.gather())
	defer cancel()
	out := page{Product: p}
	var wg sync.WaitGroup
	wg.Go(func() { out.Price, out.Sources.price = s.pricing.price(ctx, p.ID) })
	wg.Go(func() { out.Stock, out.Sources.stock = s.inventory.stock(ctx, p.ID) })
	wg.Go(func() {
		var ids []int
		ids, out.Sources.recommendations = s.recommendations.list(ctx, p.ID)
		out.Recommendations = s.priced(ctx, s.catalogue.known(ids))
	})
	wg.Wait()
	return out
}

// priced turns products into cards with prices, in one call. Prices that do not come are left out, and that makes no degraded page:
// a card is a pointer, not an offer, and the contract's price is that of the product itself.
func (s *shop) priced(ctx context.Context, products []Product) []Recommendation {
	skus := ids(products)
	slices.Sort(skus)
	prices, _ := s.pricing.prices(ctx, slices.Compact(skus)) // counted and judged by the dependency
	cards := make([]Recommendation, len(products))
	for i, p := range products {
		cards[i].Product = p
		if price, ok := prices[p.ID]; ok {
			cards[i].Price = &price
		}
	}
	return cards
}

// showProduct answers GET /products/{id}: as HTML, or as JSON if that is what the client asks for.
func (s *shop) showProduct(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.Atoi(chi.URLParam(r, "id"))
	if err != nil || id < 1 || id > 1<<30 {
		return noProduct()
	}
	product, err := s.catalogue.product(r.Context(), id)
	if err != nil {
		return noProduct()
	}
	p := s.gather(r.Context(), product)
	if fallen := p.Sources.degraded(); s.unforgiving && len(fallen) > 0 {
		return service.NewProblem(http.StatusServiceUnavailable, "part-missing", "This page could not be put together.").WithRetryAfter(time.Second)
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Add("Vary", "Accept")
	s.markDegraded(w, r, p.Sources.degraded())
	if strings.Contains(r.Header.Get("Accept"), "application/json") && !service.PrefersHTML(r) {
		return service.WriteJSON(w, http.StatusOK, p.json(s))
	}
	return s.render(w, r, http.StatusOK, "product", product.Name, s.productView(p))
}

func noProduct() *service.Problem {
	return service.NewProblem(http.StatusNotFound, "unknown-product", "We do not sell anything under this number.")
}

// fallen is a part that is not live.
type fallen struct {
	part   string
	source source
}

// degraded lists the parts that are not live, in the order of the contract.
func (s sources) degraded() []fallen {
	var out []fallen
	for _, f := range []fallen{{"price", s.price}, {"stock", s.stock}, {"recommendations", s.recommendations}} {
		if f.source != live {
			out = append(out, f)
		}
	}
	return out
}

// markDegraded says in a header, a log line and a metric that the answer is not whole. Zero errors would hide it otherwise.
func (s *shop) markDegraded(w http.ResponseWriter, r *http.Request, parts []fallen) {
	if len(parts) == 0 {
		return
	}
	worst, names := stale, make([]string, len(parts))
	for i, f := range parts {
		names[i] = f.part
		if f.source == missing || (f.source == standIn && worst == stale) {
			worst = f.source
		}
	}
	w.Header().Set("Degraded", strings.Join(names, ", "))
	s.Degraded(r, string(worst), names...)
}
