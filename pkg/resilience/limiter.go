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
}

type waiter struct{ admitted chan struct{} }

// acquire takes a slot, waiting up to wait for one. A context that is done is never admitted, not even by a slot that
// became free in the same instant. waited tells that time has passed.
func (l *limiter) acquire(ctx context.Context, wait time.Duration) (ok, waited bool) {
	l.mu.Lock()
	if l.free() && len(l.line) == 0 {
		l.inFlight++
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
	if ctx.Err() != nil {
		l.leave()
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

func (l *limiter) leave() {
	l.inFlight--
	l.admit()
}

func (l *limiter) admit() {
	for len(l.line) > 0 && l.free() {
		close(l.line[0].admitted)
		l.line = slices.Delete(l.line, 0, 1)
		l.inFlight++
	}
}

func (l *limiter) free() bool { return l.limit == 0 || l.inFlight < l.limit }

// read returns what is in use, how many wait, and the limit.
func (l *limiter) read() (inFlight, waiting, limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight, len(l.line), l.limit
}
