package control

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"watertight.example/demo/load"
)

// probe is the room's own visitors on one page, and what they have seen in the time that the charts show.
type probe struct {
	twin Twin
	next http.RoundTripper

	mu      sync.Mutex
	samples []load.Sample     // by time of arrival, the oldest first
	pending map[int]time.Time // requests without an answer so far: when each was sent
	sent    int
}

func newProbe(twin Twin, transport http.RoundTripper) *probe {
	return &probe{twin: twin, next: transport, pending: map[int]time.Time{}}
}

// visitors look at product pages only, the same ones on both twins.
func (t Twin) visitors(c Config) load.Config {
	return load.Config{Target: t.Target, After: t.After, Rate: c.Rate, Timeout: patience, Mix: load.Mix{Product: 1}, Seed: 1}
}

// run sends visitors until ctx ends.
func (p *probe) run(ctx context.Context, c Config) error {
	cfg := p.twin.visitors(c)
	cfg.Transport, cfg.Observe = p, p.observe
	_, err := load.Run(ctx, cfg)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (p *probe) observe(s load.Sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples = append(p.samples, s)
	// Kept a little longer than shown: an answer arrives up to patience after it belongs.
	old := time.Now().Add(-shown - width - patience)
	for len(p.samples) > 0 && p.samples[0].At.Before(old) {
		p.samples = p.samples[1:]
	}
}

// RoundTrip remembers each request until its answer was read to the end: load tells of answers only, and the page that hangs
// gives none.
func (p *probe) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(req.URL.Path, "/products/") { // the wait for readiness
		return p.next.RoundTrip(req)
	}
	done := p.begin()
	resp, err := p.next.RoundTrip(req)
	if err != nil {
		done()
		return nil, err
	}
	resp.Body = &finishing{resp.Body, done}
	return resp, nil
}

func (p *probe) begin() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent++
	id := p.sent
	p.pending[id] = time.Now()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pending, id)
	}
}

// visits are all requests of the time shown, answered or not.
func (p *probe) visits(now time.Time) []visit {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]visit, 0, len(p.samples)+len(p.pending))
	for _, s := range p.samples {
		all = append(all, visit{At: s.At, Latency: s.Latency, Failed: s.Class == load.Failed, Degraded: s.Class == load.Degraded, Parts: s.Parts})
	}
	for _, at := range p.pending {
		all = append(all, visit{At: at, Latency: now.Sub(at), Waiting: true})
	}
	return all
}

type finishing struct {
	io.ReadCloser
	done func()
}

func (b *finishing) Close() error {
	b.done()
	return b.ReadCloser.Close()
}
