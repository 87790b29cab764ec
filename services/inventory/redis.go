package main

import (
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// redisConns is how many writers there are: the pass and the follower.
const redisConns = 2

// redisPolicy protects the snapshot's writes. Nobody waits for them, so they may
// take their time; the fallback is to forget one, because the next pass writes
// every count again. Readers see the age of what they read.
func redisPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 100 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: redisConns},
		Breaker: resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: 2 * time.Second, Probes: 1},
	}
}

func redisOptions() service.RedisOptions { return service.RedisOptions{} }
