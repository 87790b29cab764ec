package service

import (
	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/resilience"
)

// callBuckets, in seconds, have an edge at the limits the shop gives its calls.
var callBuckets = []float64{.001, .0025, .005, .01, .025, .05, .08, .12, .2, .5, 1, 2, 5}

// dependencyMetrics are the vectors that all dependencies share.
type dependencyMetrics struct {
	calls, transitions, breaker, rejected, attempts, hedges *prometheus.CounterVec
	duration, attempt                                       *prometheus.HistogramVec
	state                                                   *dependencyCollector
}

func newDependencyMetrics(reg prometheus.Registerer) *dependencyMetrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"dependency"}, labels...))
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: callBuckets},
			append([]string{"dependency"}, labels...))
	}
	m := &dependencyMetrics{
		calls:       counter("dependency_calls_total", "Logical calls by outcome; the outcomes add up to all calls.", "outcome"),
		transitions: counter("circuit_breaker_state_changes_total", "Changes of a breaker's state.", "from_state", "to_state"),
		breaker:     counter("circuit_breaker_calls_total", "What a breaker was asked and told: attempts by result, and calls it did not let pass.", "result"),
		rejected:    counter("bulkhead_rejected_total", "Calls refused because the limit of calls in flight was reached."),
		attempts:    counter("retry_attempts_total", "Attempts by how each ended, see the label.", "outcome"),
		hedges:      counter("hedge_calls_total", "Calls that could have been hedged, by what became of it.", "outcome"),
		duration:    histogram("dependency_call_duration_seconds", "Time of calls with their retries; refused ones are left out.", "outcome"),
		attempt:     histogram("dependency_attempt_duration_seconds", "Time of single attempts."),
		state:       newDependencyCollector(),
	}
	reg.MustRegister(m.calls, m.transitions, m.breaker, m.rejected, m.attempts, m.hedges, m.duration, m.attempt, m.state)
	return m
}

// dependencySeries are one dependency's children, looked up once: a call then costs no map access and every series is there
// at zero from the start.
type dependencySeries struct {
	calls       map[resilience.Outcome]prometheus.Counter
	durations   prometheus.ObserverVec
	attempts    map[string]prometheus.Counter
	hedges      map[resilience.HedgeResult]prometheus.Counter // empty without hedging
	transitions map[[2]resilience.BreakerState]prometheus.Counter
	breaker     map[string]prometheus.Counter // empty without a breaker
	rejected    prometheus.Counter
	attempt     prometheus.Observer
	maxAttempts int
}

// breakerMoves are the legal ones.
var breakerMoves = [][2]resilience.BreakerState{
	{resilience.BreakerClosed, resilience.BreakerOpen},
	{resilience.BreakerOpen, resilience.BreakerHalfOpen},
	{resilience.BreakerHalfOpen, resilience.BreakerClosed},
	{resilience.BreakerHalfOpen, resilience.BreakerOpen},
}

var hedgeResults = []resilience.HedgeResult{
	resilience.HedgeNotNeeded, resilience.HedgePrimaryWon, resilience.HedgeBackupWon, resilience.HedgeBothFailed, resilience.HedgeSuppressed,
}

func (m *dependencyMetrics) prepare(name string, d *dependency) *dependencySeries {
	s := &dependencySeries{
		calls:       map[resilience.Outcome]prometheus.Counter{},
		durations:   m.duration.MustCurryWith(prometheus.Labels{"dependency": name}),
		attempts:    map[string]prometheus.Counter{},
		hedges:      map[resilience.HedgeResult]prometheus.Counter{},
		transitions: map[[2]resilience.BreakerState]prometheus.Counter{},
		breaker:     map[string]prometheus.Counter{},
		rejected:    m.rejected.WithLabelValues(name),
		attempt:     m.attempt.WithLabelValues(name),
		maxAttempts: 1 + d.cfg.Retry.Max,
	}
	for _, o := range resilience.Outcomes() {
		s.calls[o] = m.calls.WithLabelValues(name, o.String())
	}
	s.durations.WithLabelValues(resilience.OutcomeSuccess.String()) // the others come when they happen: nobody alerts on their time
	for _, o := range []string{"success", "retry", "exhausted", "not_retryable", "budget_denied"} {
		s.attempts[o] = m.attempts.WithLabelValues(name, o)
	}
	if d.hasHedge() {
		for _, r := range hedgeResults {
			s.hedges[r] = m.hedges.WithLabelValues(name, string(r))
		}
	}
	if d.hasBreaker() {
		for _, result := range []string{"success", "slow", "failure", "excluded", "not_permitted"} {
			s.breaker[result] = m.breaker.WithLabelValues(name, result)
		}
	}
	for _, move := range breakerMoves {
		s.transitions[move] = m.transitions.WithLabelValues(name, string(move[0]), string(move[1]))
	}
	return s
}

func (s *dependencySeries) call(e resilience.CallEvent) {
	s.calls[e.Outcome].Inc()
	switch e.Outcome {
	case resilience.OutcomeSuccess, resilience.OutcomeSlow: // a slow success is one: its time says the rest
		s.durations.WithLabelValues(resilience.OutcomeSuccess.String()).Observe(e.Duration.Seconds())
	case resilience.OutcomeFailure, resilience.OutcomeTimeout:
		s.durations.WithLabelValues(e.Outcome.String()).Observe(e.Duration.Seconds())
	case resilience.OutcomeRejectedLimit:
		s.rejected.Inc()
	case resilience.OutcomeRejectedOpen, resilience.OutcomeRejectedHalfOpen:
		s.told("not_permitted")
	}
	if c := s.hedges[e.Hedge]; c != nil {
		c.Inc()
	}
	if e.Attempts > 0 {
		s.attempts["retry"].Add(float64(e.Attempts - 1))
		s.attempts[s.lastAttempt(e)].Inc()
	}
}

// attempted counts an attempt by what it told the breaker.
func (s *dependencySeries) attempted(e resilience.AttemptEvent) {
	s.attempt.Observe(e.Duration.Seconds())
	switch e.Outcome {
	case resilience.OutcomeSuccess:
		s.told("success")
	case resilience.OutcomeSlow:
		s.told("slow")
	case resilience.OutcomeFailure, resilience.OutcomeTimeout:
		s.told("failure")
	default:
		s.told("excluded") // the caller left: no news of the dependency
	}
}

func (s *dependencySeries) told(result string) {
	if c := s.breaker[result]; c != nil {
		c.Inc()
	}
}

// lastAttempt says why there was no further one.
func (s *dependencySeries) lastAttempt(e resilience.CallEvent) string {
	switch {
	case e.Outcome == resilience.OutcomeSuccess || e.Outcome == resilience.OutcomeSlow:
		return "success"
	case e.Outcome == resilience.OutcomeRejectedBudget:
		return "budget_denied"
	case e.Attempts >= s.maxAttempts, e.Outcome == resilience.OutcomeRejectedDeadline:
		return "exhausted"
	}
	return "not_retryable"
}

func (s *dependencySeries) transition(e resilience.TransitionEvent) {
	if c := s.transitions[[2]resilience.BreakerState{e.From, e.To}]; c != nil {
		c.Inc()
	}
}
