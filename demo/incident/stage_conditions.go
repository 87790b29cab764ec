package incident

import (
	"context"
	"time"

	"watertight.example/demo/load"
)

// What stories wait for. A condition about something that nobody can read is never met; the story then goes on when its time is over.

// restoreWithin is how long after a mend a limit may need to be nearly what it was; restoredTo says what nearly is, and cutTo
// how far it has to be cut while its dependency is slow.
const (
	restoreWithin = 15 * time.Second
	restoredTo    = 0.9
	cutTo         = 0.6
	cutWithin     = 3 * time.Second
)

// seenEnough answers of each page make a p95 that is not the slowest or the second slowest; seeAtMost is how long that may take beyond
// its time: the rarest page comes three times a second.
const (
	seenEnough = 2 * enough
	seeAtMost  = 20 * time.Second
)

// see lets d pass, and however fast the story is told, as long as it takes until enough of each page was seen to judge by.
func (s *stage) see(ctx context.Context, d time.Duration) {
	from := time.Now()
	s.wait(ctx, d)
	s.until(ctx, "enough pages were seen to judge by", seeAtMost, func() bool {
		return s.shop.witnesses[0].told(func(all samples) bool {
			all = all.sent(from, time.Now())
			return min(len(all.of(load.Product)), len(all.of(load.Browse)), len(all.of(load.Order))) >= seenEnough
		})
	})
}

func (s *stage) breakerIs(p Place, state string) func() bool {
	return func() bool {
		now, ok := s.shop.state(p)
		return ok && now.Breaker == state
	}
}

// limitBelow waits for a limit to be cut to 60 % of what it is now.
func (s *stage) limitBelow(p Place) func() bool {
	before, _ := s.shop.state(p)
	return func() bool {
		now, ok := s.shop.state(p)
		return ok && float64(now.Limit) <= cutTo*float64(before.Limit)
	}
}

// restored waits for a closed breaker and nearly the greatest limit that there ever was.
func (s *stage) restored(p Place) func() bool {
	return func() bool {
		now, ok := s.shop.state(p)
		return ok && now.Breaker == "closed" && float64(now.Limit) >= restoredTo*float64(s.shop.inside[p.Service].highest(p.Dependency))
	}
}

// highest is the greatest limit read of a dependency.
func (i *internal) highest(dependency string) (most int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, one := range i.readings[dependency] {
		most = max(most, one.Limit)
	}
	return most
}
