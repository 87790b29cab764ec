package resilience

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Criticality says what a request is worth when not all can be served.
type Criticality uint8

// The criticalities, the first to go last.
const (
	CriticalityCheckout Criticality = iota // somebody is buying
	CriticalityBrowsing                    // somebody is looking
	CriticalityPrefetch                    // a machine guesses that somebody may look
	CriticalityExempt                      // health and metrics: never refused and never counted
)

// criticalityShares is how much of the limit may be in use for a request to be admitted. The gaps are what is kept free for
// those above: a checkout is refused only when everything is full.
var criticalityShares = [...]float64{CriticalityCheckout: 1, CriticalityBrowsing: 0.9, CriticalityPrefetch: 0.6}

// Shedding configures a Shedder.
type Shedding struct {
	Limit Adaptive // requests in flight; MaxWait is not used, for who waits here holds a connection

	// Classify tells the criticality of a request. Nil means DefaultCriticality.
	Classify func(*http.Request) Criticality

	// Refuse answers a request that is not served. Nil means 503 with Retry-After and a line of text. The error says when
	// to try again.
	Refuse func(http.ResponseWriter, *http.Request, *Rejected)

	// OnShed hears of each refused request. Nil means nobody does.
	OnShed func(ctx context.Context, c Criticality)

	RetryAfter time.Duration // told to those refused; 0 means 1 s
}

// Shedder refuses requests a server has no room for, the least important first, before they cost anything. It is the server's
// end of the same idea as the adaptive limit of a Dependency, with the same limiter: latency tells how much is too much
// ("Handling Overload" in Google's SRE book). It is safe for concurrent use.
type Shedder struct {
	cfg     Shedding
	limiter *limiter
	refused *Rejected
	shed    [CriticalityExempt]atomic.Uint64
}

// NewShedder makes the Shedder of a server called name.
func NewShedder(name string, cfg Shedding) (*Shedder, error) {
	whole := Config{Adaptive: cfg.Limit}.withDefaults()
	if !cfg.Limit.enabled() {
		return nil, errors.New("resilience: " + name + ": a Shedder needs a Limit")
	}
	if err := whole.validate(name); err != nil {
		return nil, err
	}
	cfg.Limit = whole.Adaptive
	if cfg.Classify == nil {
		cfg.Classify = DefaultCriticality
	}
	if cfg.Refuse == nil {
		cfg.Refuse = refuse
	}
	if cfg.RetryAfter <= 0 {
		cfg.RetryAfter = time.Second
	}
	return &Shedder{
		cfg:     cfg,
		limiter: &limiter{limit: cfg.Limit.Initial, adaptor: newAdaptor(cfg.Limit, time.Now())},
		refused: &Rejected{Dependency: name, Outcome: OutcomeRejectedLimit, RetryAfter: cfg.RetryAfter},
	}, nil
}

// Middleware serves with next what there is room for.
func (s *Shedder) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := s.cfg.Classify(r)
		if c >= CriticalityExempt {
			next.ServeHTTP(w, r)
			return
		}
		if !s.limiter.acquireShare(criticalityShares[c]) {
			s.shed[c].Add(1)
			if s.cfg.OnShed != nil {
				s.cfg.OnShed(r.Context(), c)
			}
			s.cfg.Refuse(w, r, s.refused)
			return
		}
		s.serve(next, w, r)
	})
}

func (s *Shedder) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	outcome := OutcomeFailure // of a handler that panics
	defer func() {
		now := time.Now()
		s.limiter.releaseSample(outcome, begun, now.Sub(begun), now)
	}()
	next.ServeHTTP(w, r)
	outcome = OutcomeSuccess
	if isCanceled(r.Context()) { // the client has hung up, perhaps long before the end
		outcome = OutcomeCanceled
	}
}

// SheddingState is a snapshot of a Shedder.
type SheddingState struct {
	InFlight int                       `json:"in_flight"`
	Limit    int                       `json:"limit"`
	Shed     [CriticalityExempt]uint64 `json:"shed"` // by Criticality, since the start
}

// State reads the present state.
func (s *Shedder) State() SheddingState {
	var l State
	s.limiter.read(&l)
	state := SheddingState{InFlight: l.InFlight, Limit: l.Limit}
	for c := range s.shed {
		state.Shed[c] = s.shed[c].Load()
	}
	return state
}

// DefaultCriticality tells a request that changes something from one that looks, one that a browser makes in advance, and the
// probes.
func DefaultCriticality(r *http.Request) Criticality {
	switch r.URL.Path {
	case "/healthz", "/readyz", "/metrics":
		return CriticalityExempt
	}
	if r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") == "prefetch" {
		return CriticalityPrefetch
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return CriticalityBrowsing
	}
	return CriticalityCheckout
}

func refuse(w http.ResponseWriter, _ *http.Request, why *Rejected) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(why.RetryAfter.Seconds()))))
	http.Error(w, "too busy, try again shortly", http.StatusServiceUnavailable)
}
