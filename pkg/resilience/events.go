package resilience

import (
	"sync"
	"sync/atomic"
)

// events delivers transitions to the observer in the order they happened, one at a time, and outside every lock, so that
// an observer may call anything. Whoever finds the queue unattended delivers until it is empty; no goroutine is needed.
type events struct {
	obs    Observer
	queued atomic.Int32

	mu     sync.Mutex
	queue  []TransitionEvent
	busy   bool
	closed bool
}

// add queues e. It is called under the breaker's lock, which is what makes the order right.
func (q *events) add(e TransitionEvent) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.queue = append(q.queue, e)
		q.queued.Add(1)
	}
}

func (q *events) deliver() {
	if q.queued.Load() == 0 || !q.enter() {
		return
	}
	emptied := false
	defer func() {
		if !emptied { // the observer has ended its goroutine (runtime.Goexit)
			q.leave()
		}
	}()
	for {
		e, ok := q.next()
		if !ok {
			emptied = true
			return
		}
		q.obs.OnTransition(e)
	}
}

func (q *events) enter() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy {
		return false
	}
	q.busy = true
	return true
}

// next takes the oldest event. When there is none it gives up the delivery under the same lock, so that an event added a
// moment later finds the queue unattended.
func (q *events) next() (TransitionEvent, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		q.busy = false
		return TransitionEvent{}, false
	}
	e := q.queue[0]
	q.queue = q.queue[1:]
	q.queued.Add(-1)
	return e, true
}

func (q *events) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
}

// close drops what is queued and everything that comes later.
func (q *events) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.queue = nil
	q.queued.Store(0)
}
