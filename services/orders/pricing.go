package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// pricing says what the customer was promised.
type pricing struct {
	url string
	dep *resilience.Dependency
}

// A quote is one read by primary key: 350 ms is far above its usual few. It is safe to repeat, so one lost packet costs one
// retry and not the checkout. There is no fallback: an order at a price nobody confirmed is worse than no order.
func (c *Config) pricingPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 800 * time.Millisecond, Attempt: 350 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: c.PricingMaxCalls, MaxWait: 50 * time.Millisecond},
		Breaker:  resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, ConsecutiveFailures: 5, OpenFor: c.PricingOpenFor, Probes: 2},
		Retry:    resilience.Retry{Max: 1, Base: 20 * time.Millisecond},
	}
}

func newPricing(s *service.Service, cfg *Config) (*pricing, error) {
	dep, err := s.Dependency("pricing", cfg.pricingPolicy())
	return &pricing{url: cfg.PricingURL, dep: dep}, err
}

// quote is pricing's promise; it holds until ExpiresAt.
type quote struct {
	ID        uuid.UUID `json:"quote_id"`
	Lines     []Line    `json:"lines"`
	Total     int64     `json:"total"`
	Currency  string    `json:"currency"`
	ExpiresAt time.Time `json:"expires_at"`
}

// quote fetches a promise. The error is a *service.Problem when there is no such quote.
func (p *pricing) quote(ctx context.Context, id uuid.UUID) (quote, error) {
	q, err := p.ask(ctx, http.MethodGet, "/quotes/"+id.String(), nil)
	if problemName(err) == "quote-not-found" {
		return q, refuse("quote-not-found", "There is no such quote.")
	}
	if err == nil && q.ID != id {
		return q, fmt.Errorf("%w: quote %v for %v", service.ErrBadAnswer, q.ID, id)
	}
	return q, err
}

// requote asks what the items cost now, to be shown with a refusal; best effort, because the refusal stands without it.
func (p *pricing) requote(ctx context.Context, items []Item) (quote, bool) {
	body, err := json.Marshal(map[string]any{"lines": items})
	if err != nil {
		return quote{}, false
	}
	q, err := p.ask(ctx, http.MethodPost, "/quotes", body)
	return q, err == nil
}

func (p *pricing) ask(ctx context.Context, method, path string, body []byte) (quote, error) {
	return resilience.Call(ctx, p.dep, func(ctx context.Context) (q quote, err error) {
		req, err := http.NewRequestWithContext(ctx, method, p.url+path, bytes.NewReader(body))
		if err != nil {
			return q, err
		}
		req.Header.Set("Content-Type", "application/json")
		if err := service.CallJSON(p.dep.HTTPClient(), req, &q); err != nil {
			return q, err
		}
		slices.SortFunc(q.Lines, func(x, y Line) int { return x.SKU - y.SKU })
		return q, q.check()
	})
}

// check distrusts the arithmetic of others where money is concerned.
func (q quote) check() error {
	var sum int64
	for _, l := range q.Lines {
		if l.UnitAmount < 0 || l.Amount != int64(l.Quantity)*l.UnitAmount {
			return fmt.Errorf("%w: quote %v, sku %d does not add up", service.ErrBadAnswer, q.ID, l.SKU)
		}
		sum += l.Amount
	}
	if len(q.Lines) == 0 || sum != q.Total || len(q.Currency) != 3 {
		return fmt.Errorf("%w: quote %v does not add up", service.ErrBadAnswer, q.ID)
	}
	return nil
}

// covers returns nil when the quote is a promise for exactly these items that still holds at now; else a *service.Problem.
func (q quote) covers(items []Item, now time.Time) error {
	same := slices.EqualFunc(q.Lines, items, func(l Line, i Item) bool { return l.SKU == i.SKU && l.Quantity == i.Quantity })
	switch {
	case !same:
		return refuse("quote-mismatch", "The quote is for other products or quantities.")
	case !now.Before(q.ExpiresAt):
		return refuse("quote-expired", "The quote has expired; prices may have changed.")
	}
	return nil
}
