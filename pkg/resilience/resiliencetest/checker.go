package resiliencetest

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"watertight.example/pkg/resilience"
)

// Checker is an Observer that checks what it hears, and at the end what is left behind. Give it to resilience.New, one for each
// Dependency.
type Checker struct {
	t testing.TB

	mu          sync.Mutex
	calls       []resilience.CallEvent
	begun, done int
	transitions []resilience.TransitionEvent
	opened      int
	closed      int
}

// NewChecker makes a Checker that reports to t.
func NewChecker(t testing.TB) *Checker { return &Checker{t: t} }

// OnCallStart implements resilience.Observer.
func (c *Checker) OnCallStart(ctx context.Context, _ string) context.Context { return ctx }

// OnCall implements resilience.Observer.
func (c *Checker) OnCall(_ context.Context, e resilience.CallEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, e)
	if e.Duration < 0 {
		c.t.Errorf("%s: a call took %v", e.Dependency, e.Duration)
	}
}

// OnAttempt implements resilience.Observer.
func (c *Checker) OnAttempt(ctx context.Context, _ string, _ int) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	return ctx
}

// OnAttemptDone implements resilience.Observer.
func (c *Checker) OnAttemptDone(context.Context, resilience.AttemptEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
}

// OnTransition implements resilience.Observer.
func (c *Checker) OnTransition(e resilience.TransitionEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := resilience.BreakerClosed
	if n := len(c.transitions); n > 0 {
		last = c.transitions[n-1].To
	}
	if e.From != last || e.To == e.From {
		c.t.Errorf("%s: a transition from %s to %s, after one to %s", e.Dependency, e.From, e.To, last)
	}
	c.transitions = append(c.transitions, e)
}

// Transitions returns what the breaker has gone through.
func (c *Checker) Transitions() []resilience.TransitionEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]resilience.TransitionEvent(nil), c.transitions...)
}

// Outcomes counts the logical calls by outcome.
func (c *Checker) Outcomes() map[resilience.Outcome]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := map[resilience.Outcome]int{}
	for _, e := range c.calls {
		n[e.Outcome]++
	}
	return n
}

// Verify checks that nothing is left of d's calls when all of them have returned: no slot, nobody in line, no attempt without
// an end, no probe of the breaker, no response body that was not closed; and in a synctest bubble, no goroutine of it inside package
// resilience. A Dependency that is the Hedge.Backup of another has a Checker of its own.
func (c *Checker) Verify(d *resilience.Dependency) {
	c.t.Helper()
	for _, stack := range leftInBubble() {
		c.t.Errorf("%s: a goroutine is still inside package resilience:\n%s", d.Name(), stack)
	}
	s := d.State()
	if s.Probes != 0 {
		c.t.Errorf("%s: %d probes out, though all calls have returned", d.Name(), s.Probes)
	}
	if s.InFlight != 0 || s.Waiting != 0 {
		c.t.Errorf("%s: %d in flight and %d waiting, though all calls have returned", d.Name(), s.InFlight, s.Waiting)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun != c.done {
		c.t.Errorf("%s: %d attempts begun, %d ended", d.Name(), c.begun, c.done)
	}
	attempts := 0
	for _, e := range c.calls {
		attempts += e.Attempts - e.OnBackup // those are heard of by the backup's Checker
	}
	if attempts != c.begun {
		c.t.Errorf("%s: calls speak of %d attempts, %d were begun", d.Name(), attempts, c.begun)
	}
	if c.opened != c.closed {
		c.t.Errorf("%s: %d response bodies opened, %d closed", d.Name(), c.opened, c.closed)
	}
}

// Transport wraps next so that Verify knows of response bodies that were not closed. A nil next answers 200 without a network.
func (c *Checker) Transport(next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}
		if next != nil {
			var err error
			if resp, err = next.RoundTrip(r); err != nil {
				return resp, err
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.opened++
		resp.Body = &body{ReadCloser: resp.Body, checker: c}
		return resp, nil
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type body struct {
	io.ReadCloser
	checker *Checker
	once    sync.Once
}

func (b *body) Close() error {
	b.once.Do(func() {
		b.checker.mu.Lock()
		defer b.checker.mu.Unlock()
		b.checker.closed++
	})
	return b.ReadCloser.Close()
}
