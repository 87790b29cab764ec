//go:build e2e

package e2e

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"
)

// outcome is what one attempt told its client.
type outcome byte

const (
	open     outcome = iota // a lost answer or a 503: the request may have done something, or may yet
	busy                    // 409: another attempt with this key is at work
	executed                // a final answer, made by this attempt
	replayed                // a final answer, marked as a repetition
)

// attempt is one request. Times are of one monotonic clock, since the run began.
type attempt struct {
	call, back time.Duration
	outcome    outcome
	answer     digest // of final answers
}

// digest is a final answer's status and bytes.
type digest [16]byte

func digestOf(status int, body []byte) digest {
	sum := sha256.Sum256(append([]byte{byte(status >> 8), byte(status)}, body...))
	return digest(sum[:16])
}

type item struct {
	SKU      int `json:"sku"`
	Quantity int `json:"quantity"`
}

// intent is one customer's wish under one key, and what came of it.
type intent struct {
	key, customer string
	quote         string
	items         []item

	mu       sync.Mutex
	attempts []attempt
	status   int    // of the final answer; 0: none yet
	orderID  string // of a 201
	short    []int  // SKUs, of a refusal
	ended    time.Duration
}

// add records an attempt that came back; final is nil when it had no final answer.
func (in *intent) add(a attempt, final *finalAnswer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.attempts = append(in.attempts, a)
	if final != nil && in.status == 0 {
		in.status, in.orderID, in.ended = final.status, final.OrderID, a.back
		for _, s := range final.Short {
			in.short = append(in.short, s.SKU)
		}
	}
}

// answered is the final answer's status, 0 while there is none.
func (in *intent) answered() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.status
}

func (in *intent) began() time.Duration {
	return slices.MinFunc(in.attempts, func(a, b attempt) int { return int(a.call - b.call) }).call
}

// finalAnswer is a 201 or a 422: what is stored for ever.
type finalAnswer struct {
	status  int
	OrderID string `json:"order_id"`
	Short   []struct {
		SKU int `json:"sku"`
	} `json:"short"`
}

// history is every intent of a run. Safe for concurrent use until it is read.
type history struct {
	began time.Time

	mu      sync.Mutex
	intents []*intent
	placed  int // intents answered 201
}

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) add(in *intent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.intents = append(h.intents, in)
}

func (h *history) count(in *intent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if in.answered() == 201 {
		h.placed++
	}
}

func (h *history) orders() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.placed
}

// last is when the last intent so far was answered.
func (h *history) last() (at time.Duration) {
	for _, in := range h.intents {
		at = max(at, in.ended)
	}
	return at
}

// busyLimit is how long a key may be answered 409 with nothing in the way: an owner that died as the last trouble ended leaves its
// lease, and what takes the key over then needs no second.
const busyLimit = keyLease + time.Second

// stuckInProgress names the keys that were answered 409 for longer than busyLimit once calm had come: the other half of I5. It is the
// strictest that is true of what clients can see. While troubles last, one owner after another may claim a key and die, the completer,
// whom no client sees, among them, and an owner whose reservation hit a tombstone renews its lease: each gives 409 another lease, rightly.
// Nor does a client see a claim, only that there was one when its answer came back, and still when the call began to which 409 was said
// last; so a key is counted from the one to the other, or from the end of the last trouble if that is later. A key that nobody asks for
// is not seen here at all: atRest finds it in the database.
func stuckInProgress(intents []*intent, calm time.Duration) (wrong []string) {
	for _, in := range intents {
		first, last := time.Duration(-1), time.Duration(-1)
		for _, a := range in.attempts {
			if a.outcome != busy {
				continue
			}
			if first < 0 || a.back < first {
				first = a.back
			}
			last = max(last, a.call)
		}
		if took := last - max(first, calm); took > busyLimit {
			wrong = append(wrong, fmt.Sprintf("key %s was in 409 for %s after the last fault", in.key, took.Round(10*time.Millisecond)))
		}
	}
	return wrong
}

// totals are what a run prints.
type totals struct {
	intents, orders, refusals              int
	attempts, lost, busy, retries, replays int
	longest                                time.Duration // from an intent's first attempt to its answer
}

func (h *history) totals() (sum totals) {
	for _, in := range h.intents {
		sum.intents++
		switch {
		case in.status == 201:
			sum.orders++
		case in.status != 0:
			sum.refusals++
		}
		sum.longest = max(sum.longest, in.ended-in.began())
		sum.attempts += len(in.attempts)
		sum.retries += len(in.attempts) - 1
		for _, a := range in.attempts {
			switch a.outcome {
			case open:
				sum.lost++
			case busy:
				sum.busy++
			case replayed:
				sum.replays++
			}
		}
	}
	return sum
}
