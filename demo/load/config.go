package load

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Config says whom to visit, how often, and who listens. Progress, Observe and Waiting are called on the goroutine
// that called Run, one at a time: they need no locks, and should be quick, because meanwhile no answer is counted.
type Config struct {
	Target  string // base URL of the shop, e.g. http://127.0.0.1:18080
	OwnHost bool   // the caller owns Target's host; without it only loopback and names without dots are accepted

	// After are base URLs of services that get a minute to be ready as well before the first visitor comes, see Await.
	After []string

	Rate     int           // requests per second, 1 to 2000
	Duration time.Duration // how long requests are sent; 0 = until the context ends
	Timeout  time.Duration // longest wait for one answer, 100 ms to 1 min; later is a failure
	Mix      Mix           // weights of the kinds of visit
	Seed     uint64        // the same seed draws the same visits in the same order

	Every    time.Duration // how often Progress is called; 0 = never
	Progress func(Window)  // hears what came in since the last call; nil ok
	Observe  func(Sample)  // hears every answer, for callers that keep raw samples; nil ok
	Waiting  func(error)   // hears why the target is not ready yet, at once and then every 10 s; nil ok

	// Transport carries the requests; nil is the real network. Tests put a shop in its place.
	Transport http.RoundTripper
}

// Validate names every problem at once; nil means that Run will start.
func (c Config) Validate() error {
	var errs []error
	if c.Rate < 1 || c.Rate > 2000 {
		errs = append(errs, fmt.Errorf("rate %d is not between 1 and 2000 requests per second", c.Rate))
	}
	if c.Duration < 0 {
		errs = append(errs, fmt.Errorf("duration %s is negative (0 = until stopped)", c.Duration))
	}
	if c.Timeout < 100*time.Millisecond || c.Timeout > time.Minute {
		errs = append(errs, fmt.Errorf("timeout %s is not between 100ms and 1m", c.Timeout))
	}
	if c.Every < 0 {
		errs = append(errs, fmt.Errorf("progress every %s makes no sense", c.Every))
	}
	if c.Mix.total() == 0 {
		errs = append(errs, errors.New("the mix is empty: give at least one kind of visit a weight"))
	}
	for _, base := range append([]string{c.Target}, c.After...) {
		if _, err := parseTarget(base, c.OwnHost); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
