package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestFlightSharesOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flight[int]{patience: time.Second}
		var calls atomic.Int32
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				v, err := f.do(t.Context(), "k", func(ctx context.Context) (int, error) {
					calls.Add(1)
					return 7, sleep(ctx, 100*time.Millisecond)
				})
				if v != 7 || err != nil {
					t.Errorf("got %d, %v", v, err)
				}
			})
		}
		wg.Wait()
		if n := calls.Load(); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	})
}

// The first caller's context must not be the shared call's: with it, one closed tab fails everybody.
func TestFlightOutlivesItsFirstCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flight[int]{patience: time.Second}
		work := func(ctx context.Context) (int, error) { return 7, sleep(ctx, 100*time.Millisecond) }
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if _, err := f.do(ctx, "k", work); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first got %v, want its own deadline", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			begin := time.Now()
			if v, err := f.do(t.Context(), "k", work); v != 7 || err != nil {
				t.Errorf("the second got %d, %v", v, err)
			}
			if took := time.Since(begin); took != 100*time.Millisecond {
				t.Errorf("the second waited %v, want the rest of the shared call", took)
			}
		})
		wg.Wait()
	})
}

func TestFlightIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flight[int]{patience: time.Second}
		begin := time.Now()
		_, err := f.do(t.Context(), "k", func(ctx context.Context) (int, error) { return 0, sleep(ctx, time.Hour) })
		if took := time.Since(begin); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestFlightSurvivesAPanic(t *testing.T) {
	f := flight[int]{patience: time.Second}
	_, err := f.do(t.Context(), "k", func(context.Context) (int, error) { panic("boom") })
	if err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
	if v, err := f.do(t.Context(), "k", func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("then got %d, %v", v, err)
	}
}

func TestLastKnownTellsTheTrueAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lastKnown[string]
		if _, _, ok := l.get(1); ok {
			t.Error("knows what it was never told")
		}
		l.put(1, "a")
		time.Sleep(time.Minute)
		v, at, ok := l.get(1)
		if !ok || v != "a" || time.Since(at) != time.Minute {
			t.Errorf("got %q, %v old", v, time.Since(at))
		}
	})
}

// sleep waits in the bubble's time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
