package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"watertight.example/pkg/resilience"
)

// A dependency, and one protected call of it.
func ExampleCall() {
	pricing, err := resilience.New("pricing", resilience.Config{
		Timeout:  resilience.Timeout{Total: 200 * time.Millisecond, Attempt: 80 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: 50},
		Breaker: resilience.Breaker{
			FailureRatio: 0.5, MinCalls: 20, Window: 10 * time.Second, OpenFor: 30 * time.Second,
		},
		Retry: resilience.Retry{Max: 1, Base: 10 * time.Millisecond},
	}, nil)
	if err != nil {
		fmt.Println(err) // every problem of the configuration, by name
		return
	}
	defer pricing.Close()

	price, err := resilience.Call(context.Background(), pricing, func(ctx context.Context) (int, error) {
		return 1999, nil // a remote call that honours ctx
	})
	fmt.Println(price, err)
	// Output: 1999 <nil>
}

// An optional part of a page: without it there is a shorter page, not an error.
func ExampleCallOr() {
	recommendations, err := resilience.New("recommendations", resilience.Config{
		Timeout: resilience.Timeout{Total: 120 * time.Millisecond},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fetch := func(ctx context.Context) ([]string, error) {
		return nil, errors.New("connection refused")
	}
	bestSellers := func(ctx context.Context, cause error) []string {
		fmt.Println("degraded:", cause)
		return []string{"kettle", "lamp"}
	}
	fmt.Println(resilience.CallOr(context.Background(), recommendations, fetch, bestSellers))
	// Output:
	// degraded: connection refused
	// [kettle lamp]
}

// Describe is made for the log at start.
func ExampleDependency_Describe() {
	redis, err := resilience.New("redis", resilience.Config{
		Timeout:  resilience.Timeout{Total: 50 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: 20, MaxWait: 5 * time.Millisecond},
		Breaker:  resilience.Breaker{ConsecutiveFailures: 5, OpenFor: 5 * time.Second},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(redis.Describe())
	// Output:
	// redis
	//   deadline  50ms or the caller's, the earlier; nothing starts with less than 1ms left
	//   retry     none
	//   hedge     none
	//   bulkhead  20 in flight, wait for a slot at most 5ms
	//   breaker   opens on 5 failures in a row
	//             for at most 5s, then 1 at once, closes after 1 good
	//   attempt   50ms
}
