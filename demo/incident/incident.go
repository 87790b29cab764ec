package incident

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Incident is a story, and the promises it puts to the test. Opening makes one.
type Incident struct {
	Name  string // of the subcommand
	Title string
	Fault string // one sentence: what is wrong while it is

	length time.Duration // of the fault
	edges  []string      // that will be broken
	tell   func(context.Context, *stage)
	judge  func(record) []Verdict
}

// Config says where a story is played.
type Config struct {
	Protected Twin
	Naive     *Twin // nil: only the protected page is looked at
	OwnHost   bool  // as load.Config
	Rate      int   // requests per second on each twin

	Toxiproxy string        // base URL of its API
	OpenFor   time.Duration // how long the breaker in front of recommendations stays open, as the page is configured

	Terminal io.Writer // gets a line per second

	// Transport carries all requests; nil is the real network.
	Transport http.RoundTripper
}

// Run plays the incident and judges it. It refuses to start when a page, Toxiproxy or an internal listener that was
// named does not answer, or when something is broken already. When ctx ends it mends and reports what there is. An
// error beside a report with samples says what went wrong on the way.
func Run(ctx context.Context, in Incident, cfg Config) (Report, error) {
	if in.length < time.Second || in.length+expiry > time.Hour {
		return Report{}, fmt.Errorf("a fault of %s is not between 1s and %s", in.length, time.Hour-expiry)
	}
	if cfg.Transport == nil {
		cfg.Transport = newTransport(cfg.Rate)
	}
	r := newRun(in, cfg)
	if err := r.ready(ctx); err != nil {
		return Report{}, err
	}
	err := r.play(ctx)
	return newReport(in, cfg, r.record(ctx.Err() != nil)), err
}
