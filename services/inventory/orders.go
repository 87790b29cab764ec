package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// orders is asked by the sweeper what became of an order.
type orders struct {
	url string
	dep *resilience.Dependency
}

// ordersPolicy protects orders from the sweeper. The fallback of a question
// without an answer is to keep the hold and ask again later, so one attempt is
// enough. The bulkhead is the number of askers.
func ordersPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: time.Second},
		Bulkhead: resilience.Bulkhead{Max: sweepWorkers},
		Breaker: resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, Window: 10 * time.Second,
			ConsecutiveFailures: 5, OpenFor: 2 * time.Second, Probes: 1},
	}
}

// Resolve returns what is to become of the order's hold: Committed when it was
// confirmed, Released when it never will be. The answer is final: orders writes
// its tombstone first. Everything else is an error and settles nothing.
func (o *orders) Resolve(ctx context.Context, id uuid.UUID) (State, error) {
	return resilience.Call(ctx, o.dep, func(ctx context.Context) (State, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url+"/resolve/"+id.String(), nil)
		if err != nil {
			return "", err
		}
		var answer struct {
			OrderID uuid.UUID `json:"order_id"`
			State   string    `json:"state"`
		}
		if err := service.CallJSON(o.dep.HTTPClient(), req, &answer); err != nil {
			return "", err
		}
		switch {
		case answer.OrderID != id: // somebody else's answer must not end this hold
		case answer.State == "confirmed":
			return Committed, nil
		case answer.State == "abandoned":
			return Released, nil
		}
		return "", fmt.Errorf("%w: order %v, state %q", service.ErrBadAnswer, answer.OrderID, answer.State)
	})
}
