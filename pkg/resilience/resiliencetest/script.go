package resiliencetest

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"watertight.example/pkg/resilience"
)

// Behaviour is how a dependency treats one call. It honours ctx unless it says otherwise.
type Behaviour func(ctx context.Context) error

// Phase is a Behaviour for a time. A phase without For lasts for ever.
type Phase struct {
	For time.Duration
	Do  Behaviour
}

// Script is a dependency whose behaviour changes over time. It is safe for concurrent use.
type Script struct {
	start  time.Time
	phases []Phase

	mu      sync.Mutex
	calls   int
	running int
	peak    int
}

// NewScript starts a script now. After the last phase that phase goes on.
func NewScript(phases ...Phase) *Script {
	return &Script{start: time.Now(), phases: phases}
}

// Call makes one call. Which phase it meets is decided when it begins.
func (s *Script) Call(ctx context.Context) error {
	s.mu.Lock()
	s.calls++
	s.running++
	s.peak = max(s.peak, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}()
	return s.now()(ctx)
}

func (s *Script) now() Behaviour {
	at := time.Since(s.start)
	for _, p := range s.phases[:len(s.phases)-1] {
		if p.For == 0 || at < p.For {
			return p.Do
		}
		at -= p.For
	}
	return s.phases[len(s.phases)-1].Do
}

// Calls returns how many calls have reached the dependency, how many are running, and the most that ever ran at once.
func (s *Script) Calls() (all, running, peak int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, s.running, s.peak
}

// Answer succeeds after d.
func Answer(d time.Duration) Behaviour { return Fail(d, nil) }

// Fail returns err after d.
func Fail(d time.Duration, err error) Behaviour {
	return func(ctx context.Context) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Status answers with an HTTP status after d.
func Status(d time.Duration, status int, retryAfter time.Duration) Behaviour {
	return Fail(d, &resilience.StatusError{Status: status, RetryAfter: retryAfter})
}

// Hang answers only when ctx ends.
func Hang() Behaviour {
	return func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
}

// Stubborn succeeds after d, whatever ctx says: what no fn should do, and some do.
func Stubborn(d time.Duration) Behaviour {
	return func(context.Context) error {
		time.Sleep(d)
		return nil
	}
}

// Panic panics with v.
func Panic(v any) Behaviour {
	return func(context.Context) error { panic(v) }
}

// Goexit ends the goroutine, as t.FailNow does.
func Goexit() Behaviour {
	return func(context.Context) error {
		runtime.Goexit()
		return nil
	}
}

// Mix treats a share of the calls one way and the rest another; the same seed makes the same choices.
func Mix(seed uint64, share float64, one, other Behaviour) Behaviour {
	rng := rand.New(rand.NewPCG(seed, seed))
	var mu sync.Mutex
	return func(ctx context.Context) error {
		mu.Lock()
		chosen := rng.Float64() < share
		mu.Unlock()
		if chosen {
			return one(ctx)
		}
		return other(ctx)
	}
}
