package control

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"watertight.example/demo/incident"
	"watertight.example/demo/planflip"
)

// Config says where the shop is and who may open the page.
type Config struct {
	Protected, Naive Twin
	Services         []Service
	Toxiproxy        string          // base URL of its API
	Plan             planflip.DB     // recommendations' database, for the plan flip; nil: there is none
	Books            *incident.Books // databases that only count, for stories that look into them; nil: those are not offered
	Hosts            []string        // names the page may be opened by; others are refused, see guard

	Rate    int // of the room's own visitors, per second on each page
	Product int // the product whose page is shown

	Incident incident.Times // how long the phases of an incident are
	OpenFor  time.Duration  // how long the page's breaker stays open, as it is configured

	Log *slog.Logger // nil: silent

	// Transport carries all requests; nil is the real network.
	Transport http.RoundTripper
}

// Twin is one of the two product pages.
type Twin struct {
	incident.Twin
	Public string   // where a visitor's browser finds it, for a link; empty: no link
	After  []string // base URLs of the services behind it, which get a minute to start before the room looks at the page
}

// Service has an internal listener to read.
type Service struct{ Name, Internal string }

const (
	patience      = 10 * time.Second       // how long a visitor of a page waits; as in an incident
	readPatience  = 900 * time.Millisecond // for listeners and Toxiproxy: an answer that late is no news any more
	maxBody       = 4 << 20                // of any answer
	incidentRate  = 25                     // visitors per second during an incident, beside those who come anyway; fewer teach a limit too slowly
	incidentSpeed = 10                     // article 1's half hour in three minutes; conditions and timeouts stay real
	defaultFault  = 30 * time.Second
	shortestFault = time.Second
	longestFault  = 10 * time.Minute
)

func (c Config) validate() error {
	var errs []error
	if len(c.Hosts) == 0 {
		errs = append(errs, errors.New("no host name is allowed, so nobody could open the page"))
	}
	if c.Product < 1 {
		errs = append(errs, fmt.Errorf("product %d is not a product id", c.Product))
	}
	for name, twin := range c.twins() {
		if err := twin.visitors(c).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("the %s page: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

const (
	protected = "protected"
	naive     = "naive"
)

func (c Config) twins() map[string]Twin {
	return map[string]Twin{protected: c.Protected, naive: c.Naive}
}

func (c *Config) fillIn() {
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Transport == nil {
		// No proxy from the environment. A dial that does not succeed soon is what a visitor would see as a page that hangs.
		c.Transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: patience}).DialContext,
			MaxIdleConnsPerHost: 2 * c.Rate, IdleConnTimeout: 30 * time.Second,
		}
	}
}
