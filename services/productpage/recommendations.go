package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

const (
	wanted     = 6  // recommendations on a page
	bestWanted = 12 // best sellers kept: enough to fill a page when one of them is the product itself
)

// recommendations asks what was bought together with a product. Its fallbacks: the last good list of the same product, else the
// best sellers, else the page does without. One attempt, as article 1 has it: a page is whole without this part, and a second try would
// cost a slow database more than it brings a customer.
type recommendations struct {
	dep    *resilience.Dependency
	url    string
	known  lastKnown[[]int]
	best   atomic.Pointer[[]int]
	flight flight[[]int]
}

func newRecommendations(s *service.Service, cfg *Config, budget part) (*recommendations, error) {
	dep, err := s.Dependency("recommendations", cfg.policy(resilience.Config{
		Optional: true, Fallback: budget.Fallback,
		Timeout:  resilience.Timeout{Total: budget.Total},
		Adaptive: resilience.Adaptive{Min: cfg.RecommendationsMinCalls, Max: cfg.RecommendationsMaxCalls, Floor: budget.Total / 6},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: budget.Total * 5 / 6, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: cfg.RecommendationsOpenFor, Probes: 1},
	}))
	return &recommendations{dep: dep, url: cfg.RecommendationsURL, flight: flight[[]int]{patience: budget.Total}}, err
}

// list is the recommendations part of the page: product ids, best first.
func (r *recommendations) list(ctx context.Context, product int) ([]int, source) {
	ids, err := r.flight.do(ctx, strconv.Itoa(product), func(ctx context.Context) ([]int, error) { return r.boughtTogether(ctx, product) })
	if err == nil {
		return ids, live
	}
	if last, _, ok := r.known.get(product); ok {
		return last, stale
	}
	if best := slices.DeleteFunc(slices.Clone(r.bestSellers()), func(id int) bool { return id == product }); len(best) > 0 {
		return best[:min(wanted, len(best))], standIn
	}
	return nil, missing
}

type item struct {
	ProductID int `json:"product_id"`
	Together  int `json:"together"`
	Sold      int `json:"sold"`
}

type listAnswer struct {
	ProductID int    `json:"product_id"`
	Items     []item `json:"items"`
}

func (r *recommendations) boughtTogether(ctx context.Context, product int) ([]int, error) {
	return resilience.Call(ctx, r.dep, func(ctx context.Context) ([]int, error) {
		answer, err := get[listAnswer](ctx, r.dep, fmt.Sprintf("%s/products/%d/bought-together?limit=%d", r.url, product, wanted), nil)
		if err != nil {
			return nil, err
		}
		ids, err := answer.check(product, wanted)
		if err == nil {
			r.known.put(product, ids)
		}
		return ids, err
	})
}

// check accepts an answer only if it is about the product, not too long, and without nonsense in it.
func (a listAnswer) check(product, most int) ([]int, error) {
	if a.ProductID != product || a.Items == nil || len(a.Items) > most {
		return nil, nonsense("%d items for product %d, asked at most %d for %d", len(a.Items), a.ProductID, most, product)
	}
	ids := make([]int, 0, len(a.Items))
	for _, it := range a.Items {
		if it.ProductID < 1 || it.ProductID == product || !saneCount(it.Together) || !saneCount(it.Sold) || slices.Contains(ids, it.ProductID) {
			return nil, nonsense("item %+v for product %d", it, product)
		}
		ids = append(ids, it.ProductID)
	}
	return ids, nil
}

// bestSellers are the last ones heard of, best first; nil before the first.
func (r *recommendations) bestSellers() []int {
	if ids := r.best.Load(); ids != nil {
		return *ids
	}
	return nil
}

// keepBestSellers is the worker that refreshes the best sellers until ctx ends: in the background, because when a page needs them
// it is too late to ask.
func (r *recommendations) keepBestSellers(ctx context.Context, every time.Duration) error {
	for {
		ids, err := resilience.Call(ctx, r.dep, func(ctx context.Context) ([]int, error) {
			answer, err := get[listAnswer](ctx, r.dep, fmt.Sprintf("%s/best-sellers?limit=%d", r.url, bestWanted), nil)
			if err != nil {
				return nil, err
			}
			return answer.check(0, bestWanted)
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("best sellers: %w", err) // the chassis logs it and starts the worker again, with backoff
		}
		r.best.Store(&ids)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(jitter(every)):
		}
	}
}
