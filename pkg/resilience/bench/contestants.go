package main

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/sony/gobreaker/v2"

	"watertight.example/pkg/resilience"
)

// The same policies for everybody: one retry, a breaker on half of 20 calls in 10 s, 50 in flight, a second per attempt.
const (
	inFlight = 50
	attempt  = time.Second
)

var (
	errDown = errors.New("down")
	work    = func(context.Context) (int, error) { return 1, nil } // through a variable, so that nothing is inlined
)

func must(d *resilience.Dependency, err error) *resilience.Dependency {
	if err != nil {
		panic(err)
	}
	return d
}

func policies() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 3 * attempt, Attempt: attempt},
		Bulkhead: resilience.Bulkhead{Max: inFlight},
		Breaker:  resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, Window: 10 * time.Second, OpenFor: time.Hour},
		Retry:    resilience.Retry{Max: 1, Base: 10 * time.Millisecond},
	}
}

func ours(cfg resilience.Config) func() {
	d := must(resilience.New("bench", cfg, nil))
	ctx := context.Background()
	return func() { resilience.Call(ctx, d, work) }
}

func oursOpen() func() {
	d := must(resilience.New("bench", policies(), nil))
	if err := d.ForceOpen("benchmark", 0); err != nil {
		panic(err)
	}
	ctx := context.Background()
	return func() { resilience.Call(ctx, d, work) }
}

// byHand is what one would write without a library: a loop, gobreaker, a channel, a timeout.
func byHand() func() {
	slots := make(chan struct{}, inFlight)
	breaker := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{
		Interval: 10 * time.Second, BucketPeriod: time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.Requests >= 20 && c.TotalFailures*2 >= c.Requests },
	})
	ctx := context.Background()
	once := func() (int, error) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			return 0, errDown
		}
		return breaker.Execute(func() (int, error) {
			ctx, cancel := context.WithTimeout(ctx, attempt)
			defer cancel()
			return work(ctx)
		})
	}
	return func() {
		for range 2 {
			if _, err := once(); err == nil {
				return
			}
		}
	}
}

func failsafeBreaker() circuitbreaker.CircuitBreaker[int] {
	return circuitbreaker.NewBuilder[int]().WithFailureRateThreshold(0.5, 20, 10*time.Second).WithDelay(time.Hour).Build()
}

func failsafeComposed(hedged, open bool) func() {
	breaker := failsafeBreaker()
	if open {
		breaker.Open()
	}
	policies := []failsafe.Policy[int]{retrypolicy.NewBuilder[int]().WithMaxRetries(1).AbortOnErrors(circuitbreaker.ErrOpen).Build()}
	if hedged {
		policies = append(policies, hedgepolicy.NewWithDelay[int](time.Second))
	}
	policies = append(policies, bulkhead.New[int](inFlight), breaker, timeout.New[int](attempt))
	executor := failsafe.With(policies...)
	ctx := context.Background()
	return func() {
		executor.GetWithExecution(func(failsafe.Execution[int]) (int, error) { return work(ctx) })
	}
}
