package faults

import (
	"context"
	"errors"
	"slices"
	"time"
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
	over := time.After(time.Until(last))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-over:
		case <-tick.C:
			if c.anyLeft(ctx, set) {
				continue
			}
			early = time.Now().Before(last)
		}
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		for _, a := range set {
			err = errors.Join(err, c.End(cleanup, a))
		}
		return early, err
	}
}

// anyLeft is true when in doubt: an unreachable Toxiproxy says nothing about its faults.
func (c *Client) anyLeft(ctx context.Context, set []Active) bool {
	now, err := c.Active(ctx)
	return err != nil || slices.ContainsFunc(set, func(a Active) bool { return slices.Contains(now, a) })
}

// Janitor sweeps every second until ctx ends. ended hears each fault that it ended; failed hears when Toxiproxy cannot
// be swept, once until it works again.
func (c *Client) Janitor(ctx context.Context, ended func(Active), failed func(error)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	sick := false
	for {
		list, err := c.Sweep(ctx, time.Now())
		for _, a := range list {
			ended(a)
		}
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
