package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// every calls f about each interval until ctx ends or f fails; the chassis logs the failure and starts the worker again with
// back-off. The interval varies by a tenth, so that replicas started together drift apart.
func every(interval time.Duration, f func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			tenth := interval / 10
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(interval - tenth + rand.N(2*tenth+1)):
			}
			if err := f(ctx); err != nil {
				return err
			}
		}
	}
}
