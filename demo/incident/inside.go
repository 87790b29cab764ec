package incident

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The part of the page that the opening incident and act three of the outage are about.
const optional = "recommendations"

// reading is what a process says about one of its dependencies at one moment.
type reading struct {
	At              time.Time
	Breaker         string // closed, open, half_open
	InFlight, Limit int
}

// insight is everything that a process said about itself.
type insight struct {
	readings map[string][]reading // by dependency
	scrapes  []scrape
}

// internal reads a service's internal listener. An answer that does not come is a gap in the record, nothing more: a page
// that collapses takes its operators' window along.
type internal struct {
	base      string
	transport http.RoundTripper

	mu sync.Mutex
	insight
	without string // the pattern it says it runs without
}

func newInternal(base string, transport http.RoundTripper) *internal {
	return &internal{base: strings.TrimSuffix(base, "/"), transport: transport, insight: insight{readings: map[string][]reading{}}}
}

// A breaker has to open within 2 s: 200 ms are close enough to see when it did. The metrics cost the page more.
const readEvery, scrapeEvery = 200 * time.Millisecond, time.Second

// watch reads until ctx ends.
func (i *internal) watch(ctx context.Context) {
	read, scrape := time.NewTicker(readEvery), time.NewTicker(scrapeEvery)
	defer read.Stop()
	defer scrape.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-read.C:
			_ = i.read(ctx)
		case <-scrape.C:
			_ = i.scrape(ctx)
		}
	}
}

func (i *internal) read(ctx context.Context) error {
	var answer struct {
		Without      string
		Dependencies []struct {
			Name  string
			State struct {
				Breaker  string
				InFlight int `json:"in_flight"`
				Limit    int
			}
		}
	}
	at := time.Now()
	err := i.get(ctx, "/resilience", func(body io.Reader) error { return json.NewDecoder(body).Decode(&answer) })
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.without = answer.Without
	for _, d := range answer.Dependencies {
		i.readings[d.Name] = append(i.readings[d.Name], reading{at, d.State.Breaker, d.State.InFlight, d.State.Limit})
	}
	return nil
}

func (i *internal) get(ctx context.Context, path string, use func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return get(ctx, i.transport, i.base+path, use)
}

func get(ctx context.Context, transport http.RoundTripper, url string, use func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", url, resp.StatusCode)
	}
	return use(io.LimitReader(resp.Body, 8<<20))
}

// now is what was read last of a dependency; ok is false when that is no news any more.
func (i *internal) now(dependency string) (r reading, ok bool) {
	if i == nil {
		return r, false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	all := i.readings[dependency]
	if n := len(all); n > 0 && time.Since(all[n-1].At) < 2*time.Second {
		return all[n-1], true
	}
	return r, false
}
