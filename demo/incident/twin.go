package incident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"watertight.example/demo/load"
	"watertight.example/demo/pulse"
)

// Twin says where one of the two product pages is.
type Twin struct {
	Target   string // base URL, e.g. http://127.0.0.1:18080
	Internal string // base URL of its internal listener, e.g. http://productpage:9090; empty when it cannot be reached
}

// visits are mostly product pages, and a trickle of pages that have nothing to do with what is broken: the shop's home
// page and a customer's own order.
func visits() load.Mix { return load.Mix{Product: 70, Browse: 15, Order: 15} }

// patience is how long a visitor waits. Longer than what is broken takes, so that the wait is seen for what it is;
// shorter than the naive page's own 30 s, because people are.
const patience = 10 * time.Second

// witness is one twin under load, and everything seen of it.
type witness struct {
	name string
	Twin
	internal *internal // nil when it cannot be reached

	mu        sync.Mutex
	rate      int    // of visitors, from their next turn on
	turn      func() // ends the present turn
	samples   samples
	purchases load.Purchases
	shown     int // of the samples, in a line on the terminal
	inFlight  int
}

func newWitness(name string, twin Twin, cfg Config) *witness {
	twin.Target = strings.TrimSuffix(twin.Target, "/")
	w := &witness{name: name, Twin: twin, rate: cfg.Rate, turn: func() {}}
	if twin.Internal != "" {
		w.internal = newInternal(twin.Internal, cfg.Transport)
	}
	return w
}

// ready refuses a twin that does not answer.
func (w *witness) ready(ctx context.Context, visitors load.Config) error {
	if err := visitors.Validate(); err != nil {
		return fmt.Errorf("the %s page: %w", w.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := get(ctx, visitors.Transport, w.Target+"/readyz", func(io.Reader) error { return nil }); err != nil {
		return fmt.Errorf("the %s page is not ready: %w", w.name, err)
	}
	if w.internal == nil {
		return nil
	}
	if err := errors.Join(w.internal.scrape(ctx), w.internal.read(ctx)); err != nil {
		return fmt.Errorf("the %s page's internal listener does not answer (leave it out to go without): %w", w.name, err)
	}
	return nil
}

// visitors are the same for both twins: the same seed sends the same ones in the same order.
func (r *run) visitors(w *witness) load.Config {
	w.mu.Lock()
	defer w.mu.Unlock()
	return load.Config{
		Target: w.Target, OwnHost: r.OwnHost, Rate: w.rate, Timeout: patience, Mix: r.visits, Seed: 1,
		Every: time.Second, Progress: w.progress, Observe: w.observe, Transport: r.Transport,
	}
}

// receive sends visitors until ctx ends, in turns: each change of the rate begins a new one.
func (r *run) receive(ctx context.Context, w *witness) error {
	for ctx.Err() == nil {
		turn, end := context.WithCancel(ctx)
		w.mu.Lock()
		w.turn = end
		w.mu.Unlock()
		sum, err := load.Run(turn, r.visitors(w))
		end()
		w.mu.Lock()
		w.purchases.Placed += sum.Purchases.Placed
		w.purchases.Refused += sum.Purchases.Refused
		w.purchases.Unfinished += sum.Purchases.Unfinished
		w.mu.Unlock()
		if err != nil && turn.Err() == nil {
			return err
		}
	}
	return nil
}

// slowTo changes the rate of visitors.
func (w *witness) slowTo(rate int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rate = rate
	w.turn()
}

func (w *witness) observe(s load.Sample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples = append(w.samples, s)
}

func (w *witness) progress(win load.Window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight = win.InFlight
}

// news are the product pages that came in since it was asked last, and how many requests wait for an answer.
func (w *witness) news() (fresh samples, inFlight int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh = w.samples[w.shown:]
	w.shown = len(w.samples)
	return fresh.of(load.Product), w.inFlight
}

// whole tells whether all product pages asked for within the last second, if any, were full.
func (w *witness) whole() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	recent := w.samples[max(0, len(w.samples)-500):].of(load.Product).sent(time.Now().Add(-time.Second), time.Now())
	return len(recent) > 0 && recent.count(degraded)+recent.count(failed) == 0
}

// told says whether all samples until now are enough.
func (w *witness) told(enough func(samples) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return enough(w.samples)
}

// seen is what a witness has to say at the end.
type seen struct {
	samples
	insight
	purchases load.Purchases
	pauses    pulse.Pauses
}

// fair are the samples without the time that the machine stood still. Latencies are judged by them, nothing else is.
func (s *seen) fair() samples {
	list := slices.Clone(s.samples)
	for i, one := range list {
		list[i].Latency -= s.pauses.In(one.At, ended(one))
	}
	return list
}

// disturbed says whether a pause of the machine may have cost the page a part.
func (s *seen) disturbed(one load.Sample) bool { return s.pauses.In(one.At, ended(one)) > 0 }

// testimony gives everything seen; no load and no watch may be running any more.
func (w *witness) testimony(pauses pulse.Pauses) *seen {
	s := &seen{samples: w.samples, purchases: w.purchases, pauses: pauses}
	if w.internal != nil {
		s.insight = w.internal.insight
	}
	return s
}

// awaitWhole waits until the page shows all of its parts. A breaker that the incident before this one left open must not
// become the baseline, and it closes by itself within its open time.
func (r *run) awaitWhole(ctx context.Context, w *witness) error {
	ctx, cancel := context.WithTimeout(ctx, r.OpenFor+15*time.Second)
	defer cancel()
	for told := false; ; told = true {
		parts, err := w.missing(ctx, r.Transport)
		if err == nil && parts == "" {
			return nil
		}
		if !told {
			r.say(fmt.Sprintf("waiting until the %s page is whole (now degraded: %s)", w.name, parts))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the %s page is not whole before anything is broken (degraded: %s): %w", w.name, parts, errors.Join(ctx.Err(), err))
		case <-time.After(time.Second):
		}
	}
}

// missing asks for one product page and returns its Degraded header.
func (w *witness) missing(ctx context.Context, transport http.RoundTripper) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Target+"/products/42", nil)
	if err != nil {
		return "", err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return resp.Header.Get("Degraded"), nil
}
