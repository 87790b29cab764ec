package main

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// snapshot reads the counts that inventory publishes in Redis: key stock:{sku}, value {"available":12,"as_of":"..."}. It has no
// fallback: without it there is no count.
type snapshot struct {
	dep    *resilience.Dependency
	client *redis.Client
}

const snapshotBudget = 50 * time.Millisecond // a healthy Redis answers in one

func newSnapshot(s *service.Service, cfg *Config) (*snapshot, error) {
	dep, err := s.Dependency("redis", resilience.Config{
		Timeout:  resilience.Timeout{Total: snapshotBudget},
		Bulkhead: resilience.Bulkhead{Max: cfg.RedisMaxCalls},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: snapshotBudget * 4 / 5, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: cfg.RedisOpenFor, Probes: 1},
	})
	if err != nil {
		return nil, err
	}
	client, err := s.Redis("snapshot", cfg.RedisURL, service.RedisOptions{PoolSize: cfg.RedisMaxCalls})
	return &snapshot{dep: dep, client: client}, err
}

// counts reads the snapshot of several products with one MGET. What is missing, unreadable or older than two minutes is left out.
func (s *snapshot) counts(ctx context.Context, skus []int) (map[int]Stock, error) {
	keys := make([]string, len(skus))
	for i, sku := range skus {
		keys[i] = "stock:" + strconv.Itoa(sku)
	}
	values, err := resilience.Call(ctx, s.dep, func(ctx context.Context) ([]any, error) {
		return s.client.MGet(ctx, keys...).Result()
	})
	if err != nil {
		return nil, err
	}
	found, now := map[int]Stock{}, time.Now()
	for i, v := range values {
		text, ok := v.(string)
		var stock Stock
		if ok && json.Unmarshal([]byte(text), &stock) == nil && saneCount(stock.Available) && fresh(stock.AsOf, now) {
			stock.Snapshot = true
			found[skus[i]] = stock
		}
	}
	return found, nil
}
