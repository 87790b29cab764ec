package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/singleflight"
)

// flight lets everybody who wants the same thing at the same moment share one call, so that a store which has just come back is
// asked once per thing and not once per visitor (article 1, "request coalescing"). Safe for concurrent use.
//
// The call runs on a context of its own. On the first caller's, one visitor who closes the tab would fail the others.
type flight[T any] struct {
	group    singleflight.Group
	patience time.Duration // for the shared call, whoever is still waiting
}

// do returns the result of fn, or of the call for key that is under way already. It returns early when ctx ends; the call goes
// on for the others, and its result still counts for the dependency's breaker.
func (f *flight[T]) do(ctx context.Context, key string, fn func(context.Context) (T, error)) (T, error) {
	ch := f.group.DoChan(key, func() (v any, err error) {
		defer func() {
			if p := recover(); p != nil { // nobody else can: this goroutine belongs to no request
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.patience)
		defer cancel()
		return fn(ctx)
	})
	var zero T
	select {
	case <-ctx.Done():
		return zero, context.Cause(ctx)
	case r := <-ch:
		if r.Err != nil {
			return zero, r.Err
		}
		return r.Val.(T), nil
	}
}
