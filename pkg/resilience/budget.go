package resilience

import (
	"sync"
	"time"
)

// budgetSpan is how far back the budget looks.
const budgetSpan = 10 * time.Second

// budget bounds the extra attempts of a dependency: within the last ten seconds at most ratio x calls + floor. When everything fails,
// the load on the dependency grows by that share and not by a factor; the floor lets a dependency with little traffic retry at all.
// Each logical call pays in once, however many layers may withdraw.
//
// The idea is Finagle's RetryBudget; see also "Addressing Cascading Failures" in Google's SRE book.
type budget struct {
	ratio float64
	floor int

	mu     sync.Mutex
	window window
}

func newBudget(ratio float64, floor int, now time.Time) *budget {
	return &budget{ratio: ratio, floor: floor, window: newWindow(budgetSpan, now)}
}

// deposit counts one logical call.
func (b *budget) deposit(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.window.at(now).calls++
}

// withdraw asks for one extra attempt.
func (b *budget) withdraw(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.allowed(now) < 1 {
		return false
	}
	b.window.at(now).extra++
	return true
}

// left returns the number of extra attempts allowed at now.
func (b *budget) left(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.allowed(now), 0)
}

func (b *budget) allowed(now time.Time) int {
	c := b.window.sum(now)
	return int(b.ratio*float64(c.calls)) + b.floor - c.extra
}
