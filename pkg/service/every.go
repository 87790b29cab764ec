package service

import (
	"context"
	"math/rand/v2"
	"time"
)

// Every makes a background worker for [Service.Go]: it calls f at once and then about each interval, until ctx ends or f fails;
// the chassis logs the failure and starts the worker again with backoff. The interval varies by a tenth, so that replicas
// started together drift apart.
func Every(interval time.Duration, f func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		for {
			if err := f(ctx); err != nil {
				return err
			}
			tenth := interval / 10
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(interval - tenth + rand.N(2*tenth+1)):
			}
		}
	}
}
