package main

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

const (
	sweepBatch   = 20 // holds leased at a time
	sweepWorkers = 4  // asked at the same time; orders' bulkhead admits as many
)

// sweeper ends holds whose time is up, on evidence and never on time alone:
// orders is asked, and its answer is binding because it writes a tombstone
// before it says "abandoned". Silence keeps the hold. Any number of instances
// may sweep at once.
type sweeper struct {
	store   *store
	orders  *orders
	metrics *metrics
	log     *slog.Logger
}

// sweep handles the holds that are due. It goes on while batches are full and
// answered, so that a backlog drains fast, and stops at silence, so that an
// absent orders is not hammered.
func (s *sweeper) sweep(ctx context.Context) error {
	for {
		due, err := s.store.LeaseDue(ctx, sweepBatch)
		if err != nil {
			return err
		}
		if settled := s.settle(ctx, due); len(due) < sweepBatch || settled < len(due) {
			return nil
		}
	}
}

// settle asks orders about each hold and returns how many are ended.
func (s *sweeper) settle(ctx context.Context, due []uuid.UUID) int {
	var settled atomic.Int64
	var group errgroup.Group
	group.SetLimit(sweepWorkers)
	for _, id := range due {
		group.Go(func() error {
			result := s.settleOne(ctx, id)
			s.metrics.sweeps.WithLabelValues(result).Inc()
			if result != sweepKept {
				settled.Add(1)
			}
			return nil
		})
	}
	_ = group.Wait() // every error is a result
	return int(settled.Load())
}

// Results of a sweep of one hold.
const (
	sweepCommitted = "committed"
	sweepReleased  = "released"
	sweepKept      = "kept" // nobody answered, or the database did not: again after the back-off
)

func (s *sweeper) settleOne(ctx context.Context, id uuid.UUID) string {
	to, err := s.orders.Resolve(ctx, id)
	if err == nil {
		_, err = s.store.Settle(ctx, id, to)
	}
	if err != nil {
		s.log.DebugContext(ctx, "hold kept", "order_id", id, "error", err)
		return sweepKept
	}
	s.log.InfoContext(ctx, "hold settled by the sweeper", "order_id", id, "state", to)
	if to == Committed {
		return sweepCommitted
	}
	return sweepReleased
}
