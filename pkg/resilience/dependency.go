package resilience

import (
	"net/http"
	"time"
)

// Dependency is everything this process knows about one remote thing it calls: how long to wait for it, how much of
// this process it may occupy, when to leave it alone, whether to try again. Make one per remote thing with New, at start, and
// share it: it is safe for concurrent use. There is no other way to make one: a call through a nil *Dependency or the zero value
// panics, as it would have neither a limit nor a name to be found by.
type Dependency struct {
	name    string
	cfg     Config // with its defaults
	obs     Observer
	limiter *limiter
	breaker *breaker // nil without one
	budget  *budget  // nil without extra attempts
	hedger  *hedger  // nil without hedging
	events  *events
	client  *http.Client
	full    *Rejected // what a full limiter says, made once
}

// New makes the Dependency called name. The name appears in errors, logs and metric labels. cfg is validated as a whole; the
// error joins every problem found. A nil obs observes nothing.
func New(name string, cfg Config, obs Observer) (*Dependency, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(name); err != nil {
		return nil, err
	}
	d := &Dependency{
		name:    name,
		cfg:     cfg,
		obs:     NopObserver{},
		limiter: &limiter{limit: cfg.Bulkhead.Max},
		// A slot becomes free within about an attempt's time.
		full: &Rejected{Dependency: name, Outcome: OutcomeRejectedLimit, RetryAfter: cfg.Timeout.Attempt},
	}
	if obs != nil {
		d.obs = guard{obs}
	}
	d.events = &events{obs: d.obs}
	if a := cfg.Adaptive; a.enabled() {
		d.limiter = &limiter{limit: a.Initial, adaptor: newAdaptor(a, time.Now())}
	}
	if cfg.Breaker.enabled() {
		d.breaker = newBreaker(name, cfg, d.events)
	}
	if cfg.extraAttempts() {
		d.budget = newBudget(cfg.Retry.BudgetRatio, cfg.Retry.BudgetFloor, time.Now())
	}
	if cfg.Hedge.enabled() {
		d.hedger = newHedger(cfg.Hedge, time.Now())
	}
	d.client = newHTTPClient(d)
	return d, nil
}

// Name returns the name given to New.
func (d *Dependency) Name() string { return d.name }

// HTTPClient returns the client to use inside Call, always the same one. It only decorates: the deadline, attempt number and
// traceparent headers, and connections kept to the size of the bulkhead. Timeouts, retries and the breaker are
// Call's; used outside Call it has none of them. It follows no redirects and never sends a request twice by itself.
func (d *Dependency) HTTPClient() *http.Client { return d.client }

// Close closes idle connections and ends the delivery of transitions to the observer: none begins afterwards, but one that is in
// progress on another goroutine may still run. Close does not wait for it, since an observer may call Close. Calls remain possible.
func (d *Dependency) Close() {
	d.events.close()
	d.client.CloseIdleConnections()
}

// State is a snapshot of a Dependency.
type State struct {
	Name       string        `json:"name"`
	Breaker    BreakerState  `json:"breaker"`               // closed when there is none
	RetryAfter time.Duration `json:"retry_after,omitempty"` // until an open breaker lets a probe pass, ns

	Probes int `json:"probes,omitempty"` // of a half-open breaker, under way

	Held bool `json:"held,omitempty"` // by hand, see ForceOpen and ForceClosed

	// What the breaker's window holds.
	Calls    int `json:"calls"`
	Failures int `json:"failures"`
	Slow     int `json:"slow"`

	InFlight   int `json:"in_flight"`
	Waiting    int `json:"waiting"`
	Limit      int `json:"limit"`       // 0 means none
	BudgetLeft int `json:"budget_left"` // extra attempts still allowed right now

	LimitRaised  uint64 `json:"limit_raised,omitempty"`  // how often an adaptive limit has gone up,
	LimitLowered uint64 `json:"limit_lowered,omitempty"` // and down

	LimitBaseline time.Duration `json:"limit_baseline,omitempty"` // the latency it takes for usual, ns; 0 until it has one
}

// State reads the present state. It changes nothing: an open breaker whose time is over reads half_open, but only
// the next call starts a probe.
func (d *Dependency) State() State {
	now := time.Now()
	s := State{Name: d.name, Breaker: BreakerClosed}
	d.limiter.read(&s)
	if d.breaker != nil {
		var c counts
		s.Breaker, s.RetryAfter, s.Held, c = d.breaker.read(now)
		s.Calls, s.Failures, s.Slow = c.calls, c.failures, c.slow
		s.Probes = d.breaker.probesOut()
	}
	if d.budget != nil {
		s.BudgetLeft = d.budget.left(now)
	}
	return s
}
