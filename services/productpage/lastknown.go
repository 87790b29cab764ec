package main

import (
	"sync"
	"time"
)

// lastKnown remembers the latest good answer for each product, for the time when there is no new one. Only answers of the source
// go in, never a fallback, so an age is the true age. It holds at most one entry per product. Safe for concurrent use.
type lastKnown[V any] struct {
	mu      sync.RWMutex
	entries map[int]aged[V]
}

type aged[V any] struct {
	value V
	at    time.Time
}

func (l *lastKnown[V]) put(id int, v V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries == nil {
		l.entries = map[int]aged[V]{}
	}
	l.entries[id] = aged[V]{v, time.Now()}
}

func (l *lastKnown[V]) get(id int) (V, time.Time, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	e, ok := l.entries[id]
	return e.value, e.at, ok
}
