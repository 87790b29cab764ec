//go:build e2e

package e2e

import (
	"sync/atomic"
	"time"
)

// standstill is a pause of the whole machine that, with the queue it leaves behind, shows in a p95 with a bound of 25 ms: the tests share
// two cores with each other's containers, and the machine itself may be shared.
const standstill = 100 * time.Millisecond

// pulse notices when the machine stands still: a goroutine that wants to wake every 10 ms and has nothing else to do is as late
// as everybody else.
type pulse struct {
	latest atomic.Int64
	stop   chan struct{}
}

func takePulse() *pulse {
	p := &pulse{stop: make(chan struct{})}
	go func() {
		const beat = 10 * time.Millisecond
		for {
			began := time.Now()
			select {
			case <-p.stop:
				return
			case <-time.After(beat):
				if late := int64(time.Since(began) - beat); late > p.latest.Load() {
					p.latest.Store(late)
				}
			}
		}
	}()
	return p
}

// end stops the watch and tells the longest pause.
func (p *pulse) end() time.Duration {
	close(p.stop)
	return time.Duration(p.latest.Load()).Round(time.Millisecond)
}
