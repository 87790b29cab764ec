package incident

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"watertight.example/demo/load"
	"watertight.example/demo/planflip"
)

// Incident is a story, and the promises it puts to the test. Stories lists all there are.
type Incident struct {
	Name  string // of the subcommand
	Title string
	Fault string // one sentence: what is wrong while it is

	length  time.Duration // of its longest fault
	edges   []string      // that will be broken
	visits  load.Mix      // who comes
	watched []Place       // the dependencies the story is about, whose states the report shows
	needs   needs
	tell    func(context.Context, *stage)
	judge   func(record) []Verdict
}

// needs is what a story cannot be told without.
type needs struct{ engine, books, flip bool }

// Place is a dependency in a service: productpage/inventory is inventory as productpage sees it.
type Place struct{ Service, Dependency string }

// String gives the place as people write it.
func (p Place) String() string { return p.Service + "/" + p.Dependency }

// Config says where a story is played.
type Config struct {
	Protected Twin
	Naive     *Twin             // nil: only the protected page is looked at
	Inside    map[string]string // internal listeners of other services, by name; what is missing is not measured
	OwnHost   bool              // as load.Config
	Rate      int               // requests per second on each twin

	Toxiproxy string        // base URL of its API
	OpenFor   time.Duration // how long the breaker in front of recommendations stays open, as the page is configured
	Without   string        // the pattern that the shop has to do without, see service.Base; "" for none

	Books  *Books      // databases to look into, nil: what only they know is not measured
	Engine Engine      // nil: no container can be killed
	Plans  planflip.DB // of recommendations, as the role demo; nil: no plan can be flipped

	Terminal io.Writer // gets a line per second

	// Transport carries all requests; nil is the real network.
	Transport http.RoundTripper
}

// Engine kills containers and starts them again, by the names they have in the compose file.
type Engine interface {
	Kill(ctx context.Context, services ...string) error // SIGKILL: no drain, no goodbye
	Start(ctx context.Context, services ...string) error
}

// Run plays the incident and judges it. It refuses to start when a page, Toxiproxy or an internal listener that was
// named does not answer, or when something is broken already. When ctx ends it mends and reports what there is. An
// error beside a report with samples says what went wrong on the way.
func Run(ctx context.Context, in Incident, cfg Config) (Report, error) {
	if err := in.Possible(cfg); err != nil {
		return Report{}, err
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

// Possible says what cfg lacks for the story to be told; nil when it can be played.
func (in Incident) Possible(cfg Config) error {
	switch {
	case in.length < time.Second || in.length+expiry > time.Hour:
		return fmt.Errorf("a fault of %s is not between 1s and %s", in.length, time.Hour-expiry)
	case in.needs.engine && cfg.Engine == nil:
		return fmt.Errorf("%s kills containers and needs the engine's socket (scripts/incident.sh brings it)", in.Name)
	case in.needs.books && cfg.Books == nil:
		return fmt.Errorf("%s counts in the databases and needs their addresses", in.Name)
	case in.needs.flip && cfg.Plans == nil:
		return fmt.Errorf("%s flips a plan and needs the database of recommendations", in.Name)
	}
	return nil
}
