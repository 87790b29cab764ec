// Package resilience protects a caller from one remote thing it depends on.
package resilience

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Dependency is everything this process knows about one remote thing it calls. It is safe for concurrent use.
type Dependency struct {
	name     string
	cfg      Config
	obs      Observer
	client   *http.Client
	slots    chan struct{}
	breaker  *gobreaker.TwoStepCircuitBreaker[struct{}]
	state    atomic.Value
	inFlight atomic.Int64
}

// State is a snapshot of a Dependency.
type State struct {
	Breaker  BreakerState `json:"breaker"`
	InFlight int          `json:"in_flight"`
	Limit    int          `json:"limit"`
}

// New makes a Dependency.
func New(name string, cfg Config, obs Observer) (*Dependency, error) {
	if name == "" {
		return nil, errors.New("resilience: a dependency needs a name")
	}
	if obs == nil {
		obs = NopObserver{}
	}
	if cfg.Classify == nil {
		cfg.Classify = DefaultClassify
	}
	d := &Dependency{name: name, cfg: cfg, obs: obs, client: newHTTPClient(cfg)}
	d.state.Store(BreakerClosed)
	if cfg.Bulkhead.Max > 0 {
		d.slots = make(chan struct{}, cfg.Bulkhead.Max)
	}
	if b := cfg.Breaker; b != (Breaker{}) {
		names := map[gobreaker.State]BreakerState{gobreaker.StateClosed: BreakerClosed, gobreaker.StateOpen: BreakerOpen, gobreaker.StateHalfOpen: BreakerHalfOpen}
		d.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name: name, MaxRequests: uint32(max(b.Probes, 1)), Interval: b.Window, BucketPeriod: b.Window / 10, Timeout: b.OpenFor,
			ReadyToTrip: func(c gobreaker.Counts) bool {
				n := c.TotalSuccesses + c.TotalFailures
				return b.ConsecutiveFailures > 0 && int(c.ConsecutiveFailures) >= b.ConsecutiveFailures ||
					b.FailureRatio > 0 && int(n) >= b.MinCalls && float64(c.TotalFailures) >= b.FailureRatio*float64(n)
			},
			OnStateChange: func(_ string, from, to gobreaker.State) {
				d.state.Store(names[to])
				go obs.OnTransition(TransitionEvent{Dependency: name, From: names[from], To: names[to], At: time.Now()})
			},
			IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
		})
	}
	return d, nil
}

// Name returns the name given to New.
func (d *Dependency) Name() string { return d.name }

// Describe returns a readable table of the layers and their numbers.
func (d *Dependency) Describe() string { return fmt.Sprintf("%s: %+v", d.name, d.cfg) }

// State reads the present state. It changes nothing.
func (d *Dependency) State() State {
	return State{Breaker: d.state.Load().(BreakerState), InFlight: int(d.inFlight.Load()), Limit: d.cfg.Bulkhead.Max}
}

// HTTPClient returns the client to use inside Call.
func (d *Dependency) HTTPClient() *http.Client { return d.client }

// Close closes idle connections.
func (d *Dependency) Close() { d.client.CloseIdleConnections() }

// DefaultClassify says what err means for the health of a dependency.
func DefaultClassify(err error) Outcome {
	if err == nil {
		return OutcomeSuccess
	}
	if status, ok := errors.AsType[*StatusError](err); ok && status.Status < 500 && status.Status != 429 && status.Status != 408 && status.Status != 425 {
		return OutcomeSuccess
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return OutcomeTimeout
	}
	return OutcomeFailure
}
