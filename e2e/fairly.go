//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"watertight.example/demo/pulse"
)

// mostReplays bounds how often a whole run plays a test again, of the about fifty that are about time: a machine that needs more than that
// cannot judge them, and a shop that needs more than that is not well.
const mostReplays = 12

// fairly plays a test that is about time. What fails while the machine demonstrably stood still says something about the machine, so it is
// played again, at most twice: what our code breaks is broken then, too. Never excused is what [inexcusable] reports: no pause makes a
// page fail, or a second order.
func fairly(t *testing.T, play func(t testing.TB)) {
	t.Helper()
	for try := 1; ; try++ {
		one := &trial{TB: t}
		heart := pulse.Start()
		one.run(play)
		pauses := heart.Stop()
		switch {
		case len(one.said) == 0:
			return
		case !one.final && len(pauses) > 0 && try < 3 && shared.replays < mostReplays:
			shared.replays++
			t.Logf("once more, because %s: %q", pauses, one.said)
		default:
			t.Logf("%s", pauses)
			for _, said := range one.said {
				t.Error(said)
			}
			t.FailNow()
		}
	}
}

// inexcusable fails a test for good.
func inexcusable(t testing.TB, format string, args ...any) {
	t.Helper()
	if one, ok := t.(*trial); ok {
		one.mu.Lock()
		one.final = true
		one.mu.Unlock()
	}
	t.Errorf(format, args...)
}

// trial is one playing: it collects the failures and does its own tidying up. Safe for concurrent use, as its TB is.
type trial struct {
	testing.TB
	ctx context.Context

	mu     sync.Mutex
	said   []string
	final  bool
	tidies []func()
}

func (t *trial) run(play func(t testing.TB)) {
	ctx, cancel := context.WithCancel(t.TB.Context())
	t.ctx = ctx
	over := make(chan struct{})
	go func() { // FailNow ends its goroutine
		defer close(over)
		play(t)
	}()
	<-over
	cancel()
	for _, tidy := range slices.Backward(t.tidies) {
		tidy()
	}
}

func (t *trial) fail(said string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, said)
}

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.said) > 0
}

func (t *trial) Cleanup(f func())                  { t.tidies = append(t.tidies, f) }
func (t *trial) Context() context.Context          { return t.ctx }
func (t *trial) Fail()                             { t.fail("failed") }
func (t *trial) FailNow()                          { t.Fail(); runtime.Goexit() }
func (t *trial) Error(args ...any)                 { t.fail(fmt.Sprint(args...)) }
func (t *trial) Errorf(format string, args ...any) { t.fail(fmt.Sprintf(format, args...)) }
func (t *trial) Fatal(args ...any)                 { t.Error(args...); runtime.Goexit() }
func (t *trial) Fatalf(format string, args ...any) { t.Errorf(format, args...); runtime.Goexit() }
