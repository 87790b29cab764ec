package main

import (
	"context"
	"time"
)

// rollIn moves purchases into the history until ctx ends. Any number of replicas may run it at once. An error ends it; the
// chassis logs it and starts it again with a growing pause.
//
// No ANALYZE follows, on purpose. A few rows more of a day the planner knows change no estimate, so there is nothing to gain;
// and statistics that changed whenever this worker came by would bend plans, or mend a bent one, at moments nobody chose.
// Statistics of order_items are an operator's decision.
func rollIn(ctx context.Context, s *store, every time.Duration, limit int) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		moved, err := s.rollIn(ctx, limit)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case moved == limit: // there is more
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
