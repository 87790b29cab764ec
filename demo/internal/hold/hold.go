// Package hold sees to it that what was broken on purpose does not stay so: whoever broke it ends it, in time or at Ctrl-C, and
// when that process was killed a janitor does.
package hold

import (
	"context"
	"time"
)

// look is how often holders and janitors look.
const look = time.Second

// Broken is what somebody broke, and how to end it.
type Broken struct {
	Until   time.Time
	InForce func(ctx context.Context) bool // true when in doubt: what does not answer says nothing
	End     func(ctx context.Context) error
	EndTime time.Duration // that End may take
}

// Hold keeps it until its time is over or ctx ends, and then ends it, also when ctx has ended: Ctrl-C always mends. It returns
// early when somebody else has ended it; early tells that.
func (b Broken) Hold(ctx context.Context) (early bool, err error) {
	over := time.After(time.Until(b.Until))
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-over:
		case <-tick.C:
			if b.InForce(ctx) {
				continue
			}
			return time.Now().Before(b.Until), nil
		}
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.EndTime)
		defer cancel()
		return false, b.End(cleanup)
	}
}

// Janitor sweeps every second until ctx ends. failed hears when that cannot be done, once until it works again.
func Janitor(ctx context.Context, sweep func(context.Context) error, failed func(error)) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	sick := false
	for {
		err := sweep(ctx)
		if err != nil && !sick && ctx.Err() == nil {
			failed(err)
		}
		sick = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
