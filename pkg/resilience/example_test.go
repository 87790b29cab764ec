package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// The breaker alone: every other layer is left at zero.
func ExampleBreaker() {
	billing, err := resilience.New("billing", resilience.Config{
		Breaker: resilience.Breaker{FailureRatio: 0.5, MinCalls: 4, OpenFor: 30 * time.Second},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	down := func(context.Context) error { return errors.New("connection refused") }
	for range 4 {
		resilience.Do(context.Background(), billing, down)
	}
	err = resilience.Do(context.Background(), billing, down)

	var rejected *resilience.Rejected
	fmt.Println(errors.As(err, &rejected), rejected.Outcome, billing.State().Breaker)
	// Output: true rejected_open open
}

// What the server says about retrying is obeyed, and an attempt's number and deadline travel with it.
func ExampleDependency_HTTPClient() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(resilience.HeaderAttempt) == "1" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "attempt %s, deadline known: %t", r.Header.Get(resilience.HeaderAttempt), r.Header.Get(resilience.HeaderTimeout) != "")
	}))
	defer server.Close()

	stock, err := resilience.New("stock", resilience.Config{
		Timeout: resilience.Timeout{Total: 10 * time.Second, Attempt: 3 * time.Second},
		Retry:   resilience.Retry{Max: 1, Base: time.Millisecond},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stock.Close()
	text, err := resilience.Call(context.Background(), stock, func(ctx context.Context) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return "", err
		}
		resp, err := stock.HTTPClient().Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		if err := resilience.CheckResponse(resp); err != nil {
			return "", err
		}
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	})
	fmt.Println(text, err)
	// Output: attempt 2, deadline known: true <nil>
}

// A replica, and the primary behind it: slow reads are hedged there, and all reads go there while the replica's breaker is open.
func ExampleHedge() {
	primary, err := resilience.New("postgres-primary", resilience.Config{
		Timeout:  resilience.Timeout{Total: 300 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: 20},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	replica, err := resilience.New("postgres-replica", resilience.Config{
		Timeout: resilience.Timeout{Total: 300 * time.Millisecond},
		Breaker: resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, OpenFor: 10 * time.Second},
		Hedge:   resilience.Hedge{MaxRatio: 0.05, Idempotent: true, Backup: primary},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	replica.ForceOpen("maintenance", 0)

	where, err := resilience.Call(context.Background(), replica, func(ctx context.Context) (string, error) {
		if resilience.OnBackup(ctx) {
			return "read from the primary", nil
		}
		return "read from the replica", nil
	})
	fmt.Println(where, err)
	// Output: read from the primary <nil>
}

// A limit that finds its own size, instead of a bulkhead.
func ExampleAdaptive() {
	search, err := resilience.New("search", resilience.Config{
		Timeout:  resilience.Timeout{Total: time.Second},
		Adaptive: resilience.Adaptive{Min: 5, Max: 200},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(search.State().Limit)
	// Output: 200
}

// The server's end: what there is no room for is refused, the least important first.
func ExampleShedder() {
	shedder, err := resilience.NewShedder("shop", resilience.Shedding{Limit: resilience.Adaptive{Min: 10, Max: 100}})
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := shedder.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "welcome")
	}))
	w := httptest.NewRecorder()
	shop.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 200 welcome
}
