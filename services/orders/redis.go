package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// replays is the short cut for repeated requests: an idempotency.Cache. The fallback of everything is Postgres.
type replays struct {
	client *redis.Client
	dep    *resilience.Dependency
}

// A lookup takes well under a millisecond; 25 ms is when asking Postgres has long been faster. The breaker makes a dead Redis
// cost nothing at all.
func (c *Config) redisPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 25 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: c.RedisMaxCalls},
		Breaker:  resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, ConsecutiveFailures: 5, OpenFor: c.RedisOpenFor, Probes: 1},
	}
}

func newReplays(s *service.Service, cfg *Config) (*replays, error) {
	client, err := s.Redis("redis", cfg.RedisURL, service.RedisOptions{})
	if err != nil {
		return nil, err
	}
	dep, err := s.Dependency("redis", cfg.redisPolicy())
	return &replays{client: client, dep: dep}, err
}

// Get returns the value, or an error for a miss and for trouble alike.
func (r *replays) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := resilience.Call(ctx, r.dep, func(ctx context.Context) ([]byte, error) {
		value, err := r.client.Get(ctx, key).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil, nil // a miss is an answer: Redis is well
		}
		return value, err
	})
	if err == nil && value == nil {
		return nil, redis.Nil
	}
	return value, err
}

// Set stores a value for ttl.
func (r *replays) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return resilience.Do(ctx, r.dep, func(ctx context.Context) error {
		return r.client.Set(ctx, key, value, ttl).Err()
	})
}
