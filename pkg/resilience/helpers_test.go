package resilience

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// rapid's schedules of 30 steps are too short to open, close and open again.
	flag.Set("rapid.steps", "150")
	goleak.VerifyTestMain(m)
}

var errDown = errors.New("the dependency is down")

// mustNew makes a Dependency called "dep".
func mustNew(t testing.TB, cfg Config, obs Observer) *Dependency {
	t.Helper()
	d, err := New("dep", cfg, obs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// breakerOn3 opens after three failures in a row and lets one probe pass after ten seconds at most.
func breakerOn3() Config {
	return Config{
		Timeout: Timeout{Total: time.Second},
		Breaker: Breaker{ConsecutiveFailures: 3, OpenFor: 10 * time.Second},
	}
}

// body is what tests run inside Call.
type body = func(context.Context) (int, error)

// after answers with err when d has passed, and honours its context.
func after(d time.Duration, err error) body {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(d):
			return 1, err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// stubborn answers with err when d has passed, whatever its context says.
func stubborn(d time.Duration, err error) body {
	return func(context.Context) (int, error) {
		time.Sleep(d)
		return 1, err
	}
}

func succeed(context.Context) (int, error) { return 1, nil }
func fail(context.Context) (int, error)    { return 0, errDown }

// try makes a call and returns its error.
func try(d *Dependency, fn body) error {
	_, err := Call(context.Background(), d, fn)
	return err
}

// surviving runs f on a goroutine of its own, so that it may panic or exit, and waits for its end.
func surviving(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	<-done
}

// trip opens the breaker of a Dependency configured as breakerOn3.
func trip(t testing.TB, d *Dependency) {
	t.Helper()
	for range 3 {
		try(d, fail)
		time.Sleep(300 * time.Millisecond)
	}
	if s := d.State().Breaker; s != BreakerOpen {
		t.Fatalf("breaker is %s after three failures in 600 ms, want open", s)
	}
}

// waitOpen sleeps until an open breaker lets a probe pass.
func waitOpen(d *Dependency) { time.Sleep(d.State().RetryAfter) }

func wantState(t testing.TB, d *Dependency, want BreakerState) {
	t.Helper()
	if got := d.State().Breaker; got != want {
		t.Errorf("breaker is %s, want %s", got, want)
	}
}

func wantOutcome(t testing.TB, err error, want Outcome) {
	t.Helper()
	r, ok := errors.AsType[*Rejected](err)
	if !ok || r.Outcome != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func wantIdle(t testing.TB, d *Dependency) {
	t.Helper()
	if s := d.State(); s.InFlight != 0 || s.Waiting != 0 {
		t.Errorf("in flight %d, waiting %d, want none", s.InFlight, s.Waiting)
	}
}

// recorder keeps what it observes.
type recorder struct {
	NopObserver
	mu          sync.Mutex
	calls       []CallEvent
	attempts    []AttemptEvent
	transitions []TransitionEvent
}

func (r *recorder) OnCall(_ context.Context, e CallEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, e)
}

func (r *recorder) OnAttemptDone(_ context.Context, e AttemptEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, e)
}

func (r *recorder) OnTransition(e TransitionEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transitions = append(r.transitions, e)
}

// path returns the states the breaker has gone through.
func (r *recorder) path() []BreakerState {
	r.mu.Lock()
	defer r.mu.Unlock()
	var path []BreakerState
	for _, e := range r.transitions {
		path = append(path, e.To)
	}
	return path
}

// last returns the latest call.
func (r *recorder) last() CallEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[len(r.calls)-1]
}

func (r *recorder) heard() (calls, attempts int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls), len(r.attempts)
}

// outcomes counts the logical calls.
func (r *recorder) outcomes() map[Outcome]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := map[Outcome]int{}
	for _, e := range r.calls {
		n[e.Outcome]++
	}
	return n
}

func goexit(context.Context) (int, error) { runtime.Goexit(); return 0, nil }
func panics(context.Context) (int, error) { panic("boom") }
func nilPanic(context.Context) (int, error) {
	panic(nil) // a *runtime.PanicNilError since Go 1.21
}
