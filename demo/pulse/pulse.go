// Package pulse notices when the machine itself stands still, so that what was measured meanwhile is not taken for the shop's doing.
//
// Load, shop and stores share a machine here, and the machine may share its processors with others. A pause of 100 ms is then in
// every latency of that moment, and one in twenty pages decides about a p95.
package pulse

import (
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// shortest is the least that counts: bounds of a p95 allow 25 ms more than usual.
	shortest = 25 * time.Millisecond
	beat     = 5 * time.Millisecond
	// glance is how often the stolen time is read; it counts in hundredths of a second.
	glance = 100 * time.Millisecond
)

// Watch is a heart that wants to beat every 5 ms and has nothing else to do: when it is late, so is everybody. Where the kernel
// knows how long the hypervisor has withheld a processor ("steal"), that is a pause as well: it may have been the other processor
// than the heart's. A busy shop makes neither: the scheduler lets a sleeper that wakes go first. Safe for concurrent use.
type Watch struct {
	clock
	stop, stopped chan struct{}

	mu     sync.Mutex
	pauses Pauses
}

// clock is the time, and what /proc/stat says.
type clock struct {
	now   func() time.Time
	sleep func(time.Duration)
	stat  func() ([]byte, error)
}

// Start begins to watch.
func Start() *Watch {
	w := newWatch(clock{time.Now, time.Sleep, func() ([]byte, error) { return os.ReadFile("/proc/stat") }})
	go w.watch()
	return w
}

func newWatch(c clock) *Watch {
	return &Watch{clock: c, stop: make(chan struct{}), stopped: make(chan struct{})}
}

// Stop ends the watch and gives all pauses. It is to be called once.
func (w *Watch) Stop() Pauses {
	close(w.stop)
	<-w.stopped
	return w.SoFar()
}

// SoFar gives the pauses until now, in their order.
func (w *Watch) SoFar() Pauses {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pauses)
}

func (w *Watch) watch() {
	defer close(w.stopped)
	stolen, looked := w.stolen(), w.now()
	for {
		select {
		case <-w.stop:
			return
		default:
		}
		due := w.now().Add(beat)
		w.sleep(beat)
		now := w.now()
		w.add(Pause{due, now})
		if since := now.Sub(looked); since >= glance {
			before := stolen
			stolen = w.stolen()
			if most(before, stolen) >= shortest {
				w.add(Pause{looked, now})
			}
			looked = now
		}
	}
}

func (w *Watch) add(p Pause) {
	if p.To.Sub(p.From) < shortest {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pauses = w.pauses.with(p)
}

// stolen gives what was withheld so far of each processor; nothing where that is not known.
func (w *Watch) stolen() []time.Duration {
	text, err := w.stat()
	if err != nil {
		return nil
	}
	return parseStolen(string(text))
}
