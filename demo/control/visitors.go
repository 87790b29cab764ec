package control

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	maxVisitors = 200             // at once: each holds a connection and a goroutine
	tooSlow     = 5 * time.Second // to take one event, then the visitor is let go; EventSource comes back by itself
)

// visitors are those who watch the page. Each has room for one event, the latest: whoever is slow misses some, and delays nobody.
type visitors struct {
	mu   sync.Mutex
	all  map[chan []byte]bool
	last []byte
}

var errFull = errors.New("as many visitors as there is room for are here already")

// enter gives a channel of events that begins with the latest one. leave has to be called.
func (v *visitors) enter() (events chan []byte, leave func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.all) >= maxVisitors {
		return nil, nil, errFull
	}
	if v.all == nil {
		v.all = map[chan []byte]bool{}
	}
	events = make(chan []byte, 1)
	if v.last != nil {
		events <- v.last
	}
	v.all[events] = true
	return events, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.all, events)
	}, nil
}

// tell hands an event to everybody.
func (v *visitors) tell(event []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = event
	for events := range v.all {
		select {
		case <-events: // an older one that was not taken yet
		default:
		}
		events <- event
	}
}

func (v *visitors) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.all)
}

// showEvents answers GET /api/events: server-sent events, each one the whole state.
func (r *Room) showEvents(w http.ResponseWriter, req *http.Request) error {
	events, leave, err := r.visitors.enter()
	if err != nil {
		return refuse(http.StatusServiceUnavailable, "full", "There are too many visitors here. Please come back later.")
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	wire := http.NewResponseController(w)
	for {
		select {
		case <-req.Context().Done():
			return nil
		case <-r.closing:
			return nil
		case event := <-events:
			_ = wire.SetWriteDeadline(time.Now().Add(tooSlow))
			if _, err := fmt.Fprintf(w, "data: %s\n\n", event); err != nil {
				return nil // gone, or too slow
			}
			if err := wire.Flush(); err != nil {
				return nil
			}
		}
	}
}
