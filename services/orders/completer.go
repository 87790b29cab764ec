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
		return c.unreadable(ctx, claim, err)
	}
	answer, err := c.placing.carryOut(ctx, claim, in)
	if err != nil {
		return err
	}
	c.placing.metrics.completed.Inc()
	c.log.InfoContext(ctx, "abandoned key completed", "order_id", claim.OperationID, "attempt", claim.Attempt, "status", answer.Status)
	return nil
}

// unreadable ends a key with which nobody can tell what was wanted: looked at again it would read no better, and each look would keep
// its own client, who could say it once more, out for a lease. No order was made of it, or the key would be done; if one was, long
// ago, refuse finds it. Stock that is held for it goes back by the sweeper.
func (c *completer) unreadable(ctx context.Context, claim *idempotency.Claim, cause error) error {
	c.placing.metrics.unreadable.Inc()
	c.log.ErrorContext(ctx, "abandoned key cannot be read and is refused", "order_id", claim.OperationID, "attempt", claim.Attempt, "error", cause)
	_, err := c.placing.refuse(ctx, claim, refuse("order-unreadable", "What was to be ordered is lost. Nothing was ordered: please order again."))
	if err != nil {
		return c.placing.giveUp(ctx, claim, err)
	}
	return nil
}
