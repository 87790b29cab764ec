package main

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// Price is what a product costs in minor units of Currency. AsOf is when pricing said so; Stale marks the last known price, shown
// because there is no newer one.
type Price struct {
	Amount   int64     `json:"amount"`
	Currency string    `json:"currency"`
	AsOf     time.Time `json:"as_of"`
	Stale    bool      `json:"stale"`
}

// pricing asks the pricing service. Its fallback is the last price of the same product, in memory; an order is charged by a quote
// made at the checkout, so an old figure misleads nobody about what they pay.
type pricing struct {
	dep    *resilience.Dependency
	url    string
	known  lastKnown[Price]
	flight flight[map[int]Price]
}

func newPricing(s *service.Service, cfg *Config, budget part) (*pricing, error) {
	dep, err := s.Dependency("pricing", cfg.policy(resilience.Config{
		Optional: true, Fallback: budget.Fallback,
		Timeout:  resilience.Timeout{Total: budget.Total, Attempt: budget.Attempt},
		Retry:    resilience.Retry{Max: 1, Base: 10 * time.Millisecond, Cap: 20 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: cfg.PricingMaxCalls},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: budget.Attempt * 7 / 8, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: cfg.PricingOpenFor, Probes: 1},
	}))
	return &pricing{dep: dep, url: cfg.PricingURL, flight: flight[map[int]Price]{patience: budget.Total}}, err
}

// price is the price part of the page. It is nil when there is none, also no last known one.
func (p *pricing) price(ctx context.Context, sku int) (*Price, source) {
	prices, err := p.prices(ctx, []int{sku})
	if err == nil {
		if found, ok := prices[sku]; ok {
			return &found, live
		}
		return nil, live // pricing knows no price for it: that is an answer
	}
	if last, at, ok := p.known.get(sku); ok {
		last.AsOf, last.Stale = at, true
		return &last, stale
	}
	return nil, missing
}

// maxAmount is ten million: a figure above it is a mistake of the other side, not a price.
const maxAmount = 1_000_000_000

// prices asks for up to 50 products at once. A product without a price is not in the result.
func (p *pricing) prices(ctx context.Context, skus []int) (map[int]Price, error) {
	if len(skus) == 0 {
		return nil, nil
	}
	query := skuQuery(skus)
	return p.flight.do(ctx, query, func(ctx context.Context) (map[int]Price, error) {
		return resilience.Call(ctx, p.dep, func(ctx context.Context) (map[int]Price, error) {
			answer, err := get[priceAnswer](ctx, p.dep, p.url+"/prices?"+query, nil)
			if err != nil {
				return nil, err
			}
			prices, err := answer.check(skus)
			for sku, price := range prices {
				p.known.put(sku, price)
			}
			return prices, err
		})
	})
}

type priceAnswer struct {
	Prices []struct {
		SKU      int    `json:"sku"`
		Amount   int64  `json:"amount"`
		Currency string `json:"currency"`
	} `json:"prices"`
	Unknown []int `json:"unknown"`
}

// check accepts an answer only if it is one: each product asked for once, as a sane price or as unknown.
func (a priceAnswer) check(skus []int) (map[int]Price, error) {
	if len(a.Prices)+len(a.Unknown) != len(skus) {
		return nil, nonsense("%d prices and %d unknown for %d products", len(a.Prices), len(a.Unknown), len(skus))
	}
	found, now := make(map[int]Price, len(a.Prices)), time.Now()
	for _, p := range a.Prices {
		if !saneMoney(p.Amount, p.Currency) {
			return nil, nonsense("price of %d is %d %.8q", p.SKU, p.Amount, p.Currency)
		}
		found[p.SKU] = Price{Amount: p.Amount, Currency: p.Currency, AsOf: now}
	}
	known := 0
	for _, sku := range skus {
		if _, ok := found[sku]; ok {
			known++
		}
	}
	if known != len(a.Prices) {
		return nil, nonsense("prices of products nobody asked for")
	}
	return found, nil
}

func saneMoney(amount int64, currency string) bool {
	return amount >= 0 && amount <= maxAmount && len(currency) == 3
}

func skuQuery(skus []int) string {
	query := url.Values{}
	for _, sku := range skus {
		query.Add("sku", strconv.Itoa(sku))
	}
	return query.Encode()
}
