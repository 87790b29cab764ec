package resilience

import (
	"context"
	"slices"
	"sync"
	"time"
)

// limiter bounds the attempts in flight. Who finds it full may wait in line for a short while; the line is first come, first
// served, and never longer than the limit itself: a longer one would only be a second, slower way to fail.
//
// It is a counter rather than a buffered channel because its limit can change while it is in use.
type limiter struct {
	mu       sync.Mutex
	limit    int // 0 means none
	inFlight int
	line     []*waiter
	adaptor  *adaptor // nil if the limit is fixed
}

type waiter struct{ admitted chan struct{} }

// acquire takes a slot, waiting up to wait for one. waited tells that time has passed, in which ctx may have ended: then the slot
// goes back unused.
func (l *limiter) acquire(ctx context.Context, wait time.Duration) (ok, waited bool) {
	l.mu.Lock()
	if l.free() { // nobody is in line: slots are handed over when they become free
		l.enter()
		l.mu.Unlock()
		return true, false
	}
	if wait <= 0 || len(l.line) >= l.limit {
		l.mu.Unlock()
		return false, false
	}
	w := &waiter{admitted: make(chan struct{})}
	l.line = append(l.line, w)
	l.mu.Unlock()
	return l.await(ctx, w, wait), true
}

// acquireShare takes a slot if less than share of the limit is in use, 0 < share <= 1. It does not wait.
func (l *limiter) acquireShare(share float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if float64(l.inFlight) >= max(share*float64(l.limit), 1) {
		return false
	}
	l.enter()
	return true
}

func (l *limiter) await(ctx context.Context, w *waiter, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.admitted:
	case <-timer.C:
	case <-ctx.Done():
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.line, w); i >= 0 { // nobody has given us a slot, and nobody will now
		l.line = slices.Delete(l.line, i, i+1)
		return false
	}
	return true
}

// release gives a slot back, to the first in line if there is one.
func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave()
}

// releaseSample gives a slot back and tells what an adaptive limit can learn from its use.
func (l *limiter) releaseSample(o Outcome, begun time.Time, took time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.adaptor != nil && (o == OutcomeSuccess || o == OutcomeSlow || o == OutcomeTimeout) {
		l.limit = l.adaptor.sample(l.limit, begun, took, now)
	}
	l.leave()
}

func (l *limiter) enter() {
	l.inFlight++
	if l.adaptor != nil {
		l.adaptor.peak = max(l.adaptor.peak, l.inFlight)
	}
}

func (l *limiter) leave() {
	l.inFlight--
	l.admit()
}

func (l *limiter) admit() {
	for len(l.line) > 0 && l.free() {
		close(l.line[0].admitted)
		l.line = slices.Delete(l.line, 0, 1)
		l.enter()
	}
}

func (l *limiter) free() bool { return l.limit == 0 || l.inFlight < l.limit }

// read fills in what is in use, how many wait, and the limit.
func (l *limiter) read(s *State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.InFlight, s.Waiting, s.Limit = l.inFlight, len(l.line), l.limit
	if l.adaptor != nil {
		s.LimitRaised, s.LimitLowered, s.LimitBaseline = l.adaptor.raised, l.adaptor.lowered, l.adaptor.baseline()
	}
}
