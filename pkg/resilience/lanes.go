package resilience

import (
	"context"
	"sync"
)

// lanes is what the attempts of a race know of each other.
type lanes struct {
	mu sync.Mutex
	standing
	cancelFirst  context.CancelFunc
	cancelSecond context.CancelFunc
}

// standing is how a race stands.
type standing struct {
	over        bool // nothing more may start or win
	suppressed  bool // the second was due, but not allowed
	secondBegun bool // every layer has let it pass
	firstWon    bool
	secondWon   bool
}

// enter tells how to cancel the first attempt.
func (l *lanes) enter(cancel context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancelFirst = cancel
	if l.secondWon {
		cancel()
	}
}

// beginSecond tells whether the second attempt, which has passed every layer, is still wanted.
func (l *lanes) beginSecond() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.secondBegun = !l.over
	return l.secondBegun
}

// win makes the second attempt the winner, unless the race is over.
func (l *lanes) win() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over, l.secondWon = true, true
	if l.cancelFirst != nil {
		l.cancelFirst()
	}
	return true
}

func (l *lanes) stands() standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.standing
}

// lost tells whether another attempt of the same call has won.
func (c *call) lost() bool { return c.lanes != nil && c.lanes.stands().secondWon }

// beaten is lost, also for the second attempt, for whom it makes no difference: its context is canceled as if the caller had left.
func (c *call) beaten() bool { return c.lost() || c.rival != nil && c.rival.stands().firstWon }
