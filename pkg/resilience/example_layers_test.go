package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"watertight.example/pkg/resilience"
)

// Retry alone: what may pass by itself is tried again, within a budget; what will not is not.
func ExampleRetry() {
	orders, err := resilience.New("orders", resilience.Config{
		Timeout: resilience.Timeout{Total: 10 * time.Second, Attempt: 3 * time.Second},
		Retry:   resilience.Retry{Max: 2, Base: time.Millisecond},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	place := func(ctx context.Context) (string, error) {
		if resilience.AttemptFromContext(ctx) < 3 {
			return "", syscall.ECONNREFUSED // it is restarting
		}
		return "placed", nil
	}
	fmt.Println(resilience.Call(context.Background(), orders, place))

	attempts := 0
	err = resilience.Do(context.Background(), orders, func(context.Context) error {
		attempts++
		return errors.New("no such article")
	})
	fmt.Println(attempts, err)
	// Output:
	// placed <nil>
	// 1 no such article
}

// Bulkhead alone: who finds no slot is told at once, and who told it.
func ExampleBulkhead() {
	reports, err := resilience.New("reports", resilience.Config{Bulkhead: resilience.Bulkhead{Max: 1}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = resilience.Do(context.Background(), reports, func(ctx context.Context) error {
		return resilience.Do(ctx, reports, func(context.Context) error { return nil }) // the one slot is taken, by its caller
	})
	var rejected *resilience.Rejected
	fmt.Println(errors.As(err, &rejected), rejected.Outcome)
	// Output: true rejected_limit
}

// Timeout alone: the attempt's context ends in time, and never after the caller's own deadline.
func ExampleTimeout() {
	search, err := resilience.New("search", resilience.Config{Timeout: resilience.Timeout{Total: 20 * time.Millisecond}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = resilience.Do(context.Background(), search, func(ctx context.Context) error {
		<-ctx.Done() // a call that hangs, and honours its context
		return ctx.Err()
	})
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}
