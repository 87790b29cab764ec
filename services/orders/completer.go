package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
)

// completerBatch is how many keys are taken over at once; all of them are worked on at once, because their leases run.
const completerBatch = 4

// completer brings keys to an answer whose owner crashed, or gave up and was not asked again. Many may run: each key has
// one owner.
type completer struct {
	keys    *idempotency.Store
	placing *placing
	after   time.Duration // a key's own client goes first
	log     *slog.Logger
}

// round completes what is due. It ends at the first failure: released keys go to the end of the queue, and what failed for one
// will mostly fail for the next.
func (c *completer) round(ctx context.Context) error {
	for {
		claims, err := resilience.Call(ctx, c.placing.store.postgres, func(ctx context.Context) ([]*idempotency.Claim, error) {
			return c.keys.TakeOver(ctx, c.after, completerBatch)
		})
		if err != nil {
			return err
		}
		var failed atomic.Bool
		var wg sync.WaitGroup
		for _, claim := range claims {
			wg.Go(func() {
				if err := c.complete(ctx, claim); err != nil {
					failed.Store(true)
					c.log.WarnContext(ctx, "abandoned key not completed", "order_id", claim.OperationID, "attempt", claim.Attempt, "error", err)
				}
			})
		}
		wg.Wait()
		if len(claims) < completerBatch || failed.Load() {
			return nil
		}
	}
}

func (c *completer) complete(ctx context.Context, claim *idempotency.Claim) error {
	var in placement
	if err := json.Unmarshal(claim.Payload, &in); err != nil {
		return err
	}
	answer, err := c.placing.carryOut(ctx, claim, in)
	if err != nil {
		return err
	}
	c.placing.metrics.completed.Inc()
	c.log.InfoContext(ctx, "abandoned key completed", "order_id", claim.OperationID, "attempt", claim.Attempt, "status", answer.Status)
	return nil
}
