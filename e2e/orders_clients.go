//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// crowd is impatient customers who talk to orders as productpage does. Each repeats its wish under the same key until there is a final
// answer; some give an attempt up long before its budget, some send it twice at once, to different replicas, some go away after the
// first attempt and ask again when all is over.
type crowd struct {
	replicas []string // base URLs of orders, any of which will do
	pricing  string
	client   *http.Client
	history  *history
	scarce   []int // SKUs of which there are a few
	all      int   // SKUs are 1 to all

	odd  atomic.Pointer[string] // an answer that no client may ever get
	gone struct {
		sync.Mutex
		list []*intent
	}
}

const (
	crowdSize  = 24
	patient    = 5 * time.Second       // above the checkout's budget: such a client hears whatever is said
	pauseMost  = 60 * time.Millisecond // between two wishes of one client
	anotherTry = 400 * time.Millisecond
)

// buy lets the crowd place orders until enough says so, and returns when everybody has an answer, has gone away, or ctx has ended.
func (b *crowd) buy(ctx context.Context, seed uint64, enough func() bool) {
	var wg sync.WaitGroup
	for n := range crowdSize {
		wg.Go(func() {
			rng := mathrand.New(mathrand.NewPCG(seed, uint64(n)))
			customer := fmt.Sprintf("matrix-%d-%d", seed, n)
			var mine []*intent
			for ctx.Err() == nil && !enough() {
				in := b.wish(ctx, rng, customer)
				if in == nil {
					return
				}
				if b.insist(ctx, rng, in, rng.IntN(30) == 0) {
					mine = append(mine, in)
				}
				if len(mine) > 0 && rng.IntN(3) == 0 { // somebody reloads an old page
					b.send(ctx, rng, mine[rng.IntN(len(mine))], patient)
				}
				sleep(ctx, time.Duration(rng.Int64N(int64(pauseMost))))
			}
		})
	}
	wg.Wait()
}

// comeBack lets those who went away ask for their order. Nobody may be buying meanwhile.
func (b *crowd) comeBack(ctx context.Context, seed uint64) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, crowdSize)
	gone := b.gone.list
	b.gone.list = nil
	for n, in := range gone {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			b.insist(ctx, mathrand.New(mathrand.NewPCG(seed, uint64(n))), in, false)
		})
	}
	wg.Wait()
}

// wish makes a new intent, with a quote. It is nil when ctx has ended.
func (b *crowd) wish(ctx context.Context, rng *mathrand.Rand, customer string) *intent {
	in := &intent{key: rand.Text(), customer: customer, items: []item{{b.pick(rng), 1 + rng.IntN(2)}}}
	if second := b.pick(rng); rng.IntN(10) == 0 && second != in.items[0].SKU {
		in.items = append(in.items, item{second, 1})
	}
	var quote struct {
		ID string `json:"quote_id"`
	}
	body, _ := json.Marshal(map[string]any{"lines": in.items}) // numbers
	for {
		if status, _, raw := b.post(ctx, b.pricing+"/quotes", patient, body, nil); status == http.StatusCreated && json.Unmarshal(raw, &quote) == nil {
			in.quote = quote.ID
			return in
		}
		if !sleep(ctx, anotherTry) {
			return nil
		}
	}
}

// pick prefers what is scarce, so that it runs out.
func (b *crowd) pick(rng *mathrand.Rand) int {
	if rng.IntN(8) == 0 {
		return b.scarce[rng.IntN(len(b.scarce))]
	}
	return 1 + rng.IntN(b.all)
}

// insist sends an intent until it has its final answer, which it reports. Someone who leaves does not wait for it.
func (b *crowd) insist(ctx context.Context, rng *mathrand.Rand, in *intent, leaves bool) bool {
	if len(in.attempts) == 0 {
		b.history.add(in)
	}
	for in.answered() == 0 && ctx.Err() == nil {
		limit := patient
		if leaves || rng.IntN(5) == 0 {
			limit = time.Duration(5+rng.IntN(300)) * time.Millisecond
		}
		if rng.IntN(8) == 0 {
			twin := mathrand.New(mathrand.NewPCG(rng.Uint64(), 0))
			var wg sync.WaitGroup
			wg.Go(func() { b.send(ctx, twin, in, patient) })
			b.send(ctx, rng, in, limit)
			wg.Wait()
		} else {
			b.send(ctx, rng, in, limit)
		}
		if leaves && in.answered() == 0 {
			b.gone.Lock()
			defer b.gone.Unlock()
			b.gone.list = append(b.gone.list, in)
			return false
		}
		if in.answered() == 0 {
			sleep(ctx, time.Duration(rng.Int64N(int64(anotherTry))))
		}
	}
	b.history.count(in)
	return in.answered() != 0
}

// send is one attempt, at any replica. It is part of the history, whatever comes of it.
func (b *crowd) send(ctx context.Context, rng *mathrand.Rand, in *intent, limit time.Duration) {
	body, _ := json.Marshal(map[string]any{"quote_id": in.quote, "lines": in.items}) // numbers and a uuid
	a := attempt{call: b.history.now()}
	status, header, raw := b.post(ctx, b.replicas[rng.IntN(len(b.replicas))]+"/orders", limit, body,
		http.Header{"Idempotency-Key": {in.key}, "X-Customer-Id": {in.customer}})
	a.back = b.history.now()
	var final *finalAnswer
	switch status {
	case http.StatusCreated, http.StatusUnprocessableEntity:
		final = &finalAnswer{status: status}
		_ = json.Unmarshal(raw, final) // what is missing is missed by the checks
		a.outcome, a.answer = executed, digestOf(status, raw)
		if header.Get("Idempotent-Replayed") != "" {
			a.outcome = replayed
		}
	case http.StatusConflict:
		a.outcome = busy
	case 0, http.StatusServiceUnavailable:
	default:
		text := fmt.Sprintf("%d %s", status, raw)
		b.odd.Store(&text)
	}
	in.add(a, final)
}

// post returns status 0 when the answer was lost, also half of it.
func (b *crowd) post(ctx context.Context, url string, limit time.Duration, body []byte, header http.Header) (int, http.Header, []byte) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Content-Type", "application/json")
	req.GetBody = nil // with it, net/http repeats a request that has a key by itself, and the history would not know
	resp, err := b.client.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, nil
	}
	return resp.StatusCode, resp.Header, raw
}

// sleep reports whether it slept to the end.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
