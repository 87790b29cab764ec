package incident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"watertight.example/demo/load"
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

	mu       sync.Mutex
	samples  samples
	shown    int // of the samples, in a line on the terminal
	inFlight int
}

func newWitness(name string, twin Twin, transport http.RoundTripper) *witness {
	twin.Target = strings.TrimSuffix(twin.Target, "/")
	w := &witness{name: name, Twin: twin}
	if twin.Internal != "" {
		w.internal = &internal{base: strings.TrimSuffix(twin.Internal, "/"), transport: transport}
	}
	return w
}

// ready refuses a twin that does not answer.
func (w *witness) ready(ctx context.Context, cfg Config) error {
	if err := w.visitors(cfg).Validate(); err != nil {
		return fmt.Errorf("the %s page: %w", w.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := get(ctx, cfg.Transport, w.Target+"/readyz", func(io.Reader) error { return nil }); err != nil {
		return fmt.Errorf("the %s page is not ready: %w", w.name, err)
	}
	if w.internal == nil {
		return nil
	}
	if err := w.internal.scrape(ctx); err != nil {
		return fmt.Errorf("the %s page's internal listener does not answer (leave it out to go without): %w", w.name, err)
	}
	return nil
}

// visitors are the same for both twins: the same seed sends the same ones in the same order.
func (w *witness) visitors(cfg Config) load.Config {
	return load.Config{
		Target: w.Target, OwnHost: cfg.OwnHost, Rate: cfg.Rate, Timeout: patience, Mix: visits(), Seed: 1,
		Every: time.Second, Progress: w.progress, Observe: w.observe, Transport: cfg.Transport,
	}
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

// seen is what a witness has to say at the end.
type seen struct {
	samples
	readings []reading
	scrapes  []scrape
}

// testimony gives everything seen; no load and no watch may be running any more.
func (w *witness) testimony() *seen {
	s := &seen{samples: w.samples}
	if w.internal != nil {
		s.readings, s.scrapes = w.internal.readings, w.internal.scrapes
	}
	return s
}

// awaitWhole waits until the page shows all of its parts. A breaker that the incident before this one left open must not
// become the baseline, and it closes by itself within its open time.
func (w *witness) awaitWhole(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithTimeout(ctx, cfg.OpenFor+15*time.Second)
	defer cancel()
	for told := false; ; told = true {
		parts, err := w.missing(ctx, cfg.Transport)
		if err == nil && parts == "" {
			return nil
		}
		if !told && cfg.Terminal != nil {
			fmt.Fprintf(cfg.Terminal, "waiting until the %s page is whole (now degraded: %s)\n", w.name, parts)
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
