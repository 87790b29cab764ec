package main

import (
	"context"
	"time"
)

// purgeBatch is the most quotes one transaction deletes: enough to catch up quickly, few enough to be over in milliseconds.
const purgeBatch = 500

// purge deletes quotes made longer than keep ago, until ctx ends. Any number of replicas may run it at once. An error ends
// it; the chassis logs it and starts it again with a growing pause.
func purge(ctx context.Context, s *store, every, keep time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		deleted, err := s.purge(ctx, keep, purgeBatch)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case deleted == purgeBatch: // there is more
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
