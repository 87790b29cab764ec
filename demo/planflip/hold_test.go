package planflip

import (
	"context"
	"testing"
	"time"
)

func everyFlipEnds(t *testing.T, _, demo string) {
	db := open(t, demo)
	flip := func(t *testing.T, length time.Duration) Status {
		t.Helper()
		status, err := Flip(t.Context(), db, length)
		if err != nil {
			t.Fatal(err)
		}
		return status
	}

	t.Run("by whoever holds it, when its time is over", func(t *testing.T) {
		if early, err := Hold(t.Context(), db, flip(t, time.Second)); err != nil || early {
			t.Error(early, err)
		}
		is(t, db, false, false)
	})

	t.Run("by Ctrl-C", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		status := flip(t, time.Hour)
		cancel()
		if early, err := Hold(ctx, db, status); err != nil || early {
			t.Error(early, err)
		}
		is(t, db, false, false)
	})

	t.Run("by the janitor, when nobody holds it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended, gone := make(chan struct{}, 1), make(chan struct{})
		flip(t, 2*time.Second)
		go func() {
			defer close(gone)
			Janitor(ctx, db, func() { ended <- struct{}{} }, func(err error) { t.Error(err) })
		}()
		is(t, db, true, true) // the janitor is there and leaves it its time
		<-ended
		is(t, db, false, false)
		cancel()
		<-gone
	})

	t.Run("but not by a sweep before its time, nor by the holder of an earlier one", func(t *testing.T) {
		earlier := flip(t, time.Hour)
		flip(t, time.Hour)
		if ended, err := Sweep(t.Context(), db); err != nil || ended {
			t.Error(ended, err)
		}
		if early, err := Hold(t.Context(), db, earlier); err != nil || !early {
			t.Error(early, err)
		}
		is(t, db, true, true)
		if err := Analyze(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		is(t, db, false, false)
	})
}

// A janitor whose database is not there says so once, and goes on looking.
func TestJanitorWithoutADatabase(t *testing.T) {
	db := open(t, "postgres://demo@127.0.0.1:1/recommendations?sslmode=disable")
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	failures := 0
	Janitor(ctx, db, func() { t.Error("ended something") }, func(error) { failures++ })
	if failures != 1 {
		t.Errorf("said it %d times", failures)
	}
}
