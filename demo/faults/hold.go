package faults

import (
	"context"
	"errors"
	"slices"
	"time"

	"watertight.example/demo/internal/hold"
)

// Hold keeps faults until their time is over or ctx ends, and then ends them, also when ctx has ended: Ctrl-C always
// mends. It returns early when all of them were ended by somebody else; early tells that.
func (c *Client) Hold(ctx context.Context, set []Active) (early bool, err error) {
	var last time.Time
	for _, a := range set {
		if a.Until.After(last) {
			last = a.Until
		}
	}
	return hold.Broken{
		Until:   last,
		InForce: func(ctx context.Context) bool { return c.anyLeft(ctx, set) },
		End:     func(ctx context.Context) error { return c.endAll(ctx, set) },
		EndTime: 10 * time.Second,
	}.Hold(ctx)
}

// anyLeft is true when in doubt: an unreachable Toxiproxy says nothing about its faults.
func (c *Client) anyLeft(ctx context.Context, set []Active) bool {
	now, err := c.Active(ctx)
	return err != nil || slices.ContainsFunc(set, func(a Active) bool { return slices.Contains(now, a) })
}

func (c *Client) endAll(ctx context.Context, set []Active) (err error) {
	for _, a := range set {
		err = errors.Join(err, c.End(ctx, a))
	}
	return err
}

// Janitor sweeps every second until ctx ends. ended hears each fault that it ended; failed hears when Toxiproxy cannot
// be swept, once until it works again.
func (c *Client) Janitor(ctx context.Context, ended func(Active), failed func(error)) {
	hold.Janitor(ctx, func(ctx context.Context) error {
		list, err := c.Sweep(ctx, time.Now())
		for _, a := range list {
			ended(a)
		}
		return err
	}, failed)
}
