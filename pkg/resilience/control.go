package resilience

import (
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"
)

var errNoBreaker = errors.New("resilience: this dependency has no breaker")

// ForceOpen opens the breaker by hand, whatever the results say: for dur, after which probes decide as usual, or, with dur 0,
// until Release. reason appears in the transition. The error says that there is no breaker.
func (d *Dependency) ForceOpen(reason string, dur time.Duration) error {
	if d.breaker == nil {
		return errNoBreaker
	}
	d.breaker.forceOpen(reason, dur, time.Now())
	d.events.deliver()
	return nil
}

// ForceClosed closes the breaker by hand and keeps it closed until Release. Results are still counted.
func (d *Dependency) ForceClosed(reason string) error {
	if d.breaker == nil {
		return errNoBreaker
	}
	d.breaker.forceClosed(reason, time.Now())
	d.events.deliver()
	return nil
}

// Release hands the breaker back to its own judgement: one held open lets a probe pass next, one held closed may open again.
func (d *Dependency) Release() error {
	if d.breaker == nil {
		return errNoBreaker
	}
	d.breaker.release(time.Now())
	return nil
}

// SetLimit changes how many attempts may be in flight. A lower limit is reached as attempts end; none is cut off.
func (d *Dependency) SetLimit(n int) error {
	if n < 1 {
		return fmt.Errorf("resilience: a limit of %d would refuse everything", n)
	}
	d.limiter.setLimit(n)
	return nil
}

func (b *breaker) forceOpen(reason string, dur time.Duration, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != BreakerOpen {
		b.now = now
		b.machine = b.newMachine() // trip wants a closed one
		b.trip("by hand: " + reason)
	}
	b.held = dur <= 0
	b.openUntil = now.Add(dur)
	b.rejection = nil
}

func (b *breaker) forceClosed(reason string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
	if b.state != BreakerClosed {
		b.now, b.reason = now, "by hand: "+reason
		b.machine = b.newMachine()
		b.changed(gobreaker.StateClosed)
	}
}

func (b *breaker) release(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held && b.state == BreakerOpen {
		b.openUntil = now
	}
	b.held = false
}

func (l *limiter) setLimit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = n
	l.admit()
}
