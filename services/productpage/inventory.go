package main

import (
	"context"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// Stock is how many of a product can be bought. AsOf is when that was true.
type Stock struct {
	Available int       `json:"available"`
	AsOf      time.Time `json:"as_of"`
	Snapshot  bool      `json:"snapshot"` // from Redis, not from inventory itself
}

// inventory asks the inventory service. Its fallback is the snapshot that inventory publishes in Redis, if that is at most two
// minutes old. Whether an order can be filled is decided when it is placed, never by what this page showed.
type inventory struct {
	dep      *resilience.Dependency
	url      string
	snapshot func(ctx context.Context, skus []int) (map[int]Stock, error)
	flight   flight[map[int]Stock]
}

// inventoryPolicy: when inventory gets slow the limit shrinks first, then the breaker opens, and then the snapshot serves. A healthy
// one answers in 3 to 5 ms, and in 55 at worst when its replica has just hung; above that, most of an attempt's time is gone.
func (c *Config) inventoryPolicy(budget part) resilience.Config {
	return c.policy(resilience.Config{
		Optional: true, Fallback: budget.Fallback,
		Timeout:  resilience.Timeout{Total: budget.Total, Attempt: budget.Attempt},
		Retry:    resilience.Retry{Max: 1, Base: 10 * time.Millisecond, Cap: 20 * time.Millisecond},
		Adaptive: resilience.Adaptive{Min: c.InventoryMinCalls, Max: c.InventoryMaxCalls, Floor: budget.Attempt / 4},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: budget.Attempt * 3 / 4, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: c.InventoryOpenFor, Probes: 1},
	})
}

func newInventory(s *service.Service, cfg *Config, budget part, fallback *snapshot) (*inventory, error) {
	dep, err := s.Dependency("inventory", cfg.inventoryPolicy(budget))
	return &inventory{dep: dep, url: cfg.InventoryURL, snapshot: fallback.counts, flight: flight[map[int]Stock]{patience: budget.Total}}, err
}

// stock is the stock part of the page. It is nil when nobody knows a count that is young enough; the product can still be ordered.
func (i *inventory) stock(ctx context.Context, sku int) (*Stock, source) {
	skus := []int{sku}
	counts, err := i.counts(ctx, skus)
	if err == nil {
		if found, ok := counts[sku]; ok {
			return &found, live
		}
		return nil, live // inventory does not stock it: that is an answer
	}
	counts, err = i.snapshot(ctx, skus)
	if found, ok := counts[sku]; err == nil && ok {
		return &found, stale
	}
	return nil, missing
}

// counts asks for up to 50 products at once. A product that inventory does not know is not in the result.
func (i *inventory) counts(ctx context.Context, skus []int) (map[int]Stock, error) {
	query := skuQuery(skus)
	return i.flight.do(ctx, query, func(ctx context.Context) (map[int]Stock, error) {
		return resilience.Call(ctx, i.dep, func(ctx context.Context) (map[int]Stock, error) {
			answer, err := get[stockAnswer](ctx, i.dep, i.url+"/stock?"+query, nil)
			if err != nil {
				return nil, err
			}
			return answer.check(skus, time.Now())
		})
	})
}

type stockAnswer struct {
	AsOf  time.Time `json:"as_of"`
	Stock []struct {
		SKU       int `json:"sku"`
		Available int `json:"available"`
	} `json:"stock"`
	Unknown []int `json:"unknown"`
}

// check accepts an answer only if it is one: each product asked for once, as a sane count or as unknown, true not long ago.
func (a stockAnswer) check(skus []int, now time.Time) (map[int]Stock, error) {
	if len(a.Stock)+len(a.Unknown) != len(skus) || !fresh(a.AsOf, now) {
		return nil, nonsense("%d counts and %d unknown for %d products, as of %v", len(a.Stock), len(a.Unknown), len(skus), a.AsOf)
	}
	found := make(map[int]Stock, len(a.Stock))
	for _, c := range a.Stock {
		if !saneCount(c.Available) {
			return nil, nonsense("%d of product %d", c.Available, c.SKU)
		}
		found[c.SKU] = Stock{Available: c.Available, AsOf: a.AsOf}
	}
	known := 0
	for _, sku := range skus {
		if _, ok := found[sku]; ok {
			known++
		}
	}
	if known != len(a.Stock) {
		return nil, nonsense("counts of products nobody asked for")
	}
	return found, nil
}

func saneCount(n int) bool { return n >= 0 && n <= 1_000_000_000 }

const (
	maxStockAge = 2 * time.Minute // what the banner promises
	maxSkew     = time.Minute     // how far ahead of ours another machine's clock may be
)

// fresh tells whether a count may be shown at all.
func fresh(asOf, now time.Time) bool {
	age := now.Sub(asOf)
	return age <= maxStockAge && age >= -maxSkew
}
