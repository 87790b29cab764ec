package service

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/resilience"
)

// dependencyCollector reads breakers and bulkheads when it is scraped. A gauge set by the last event would be stale: an open
// breaker becomes half-open by the passing of time, which is no event.
type dependencyCollector struct {
	state, active, limit, tokens *prometheus.Desc

	mu      sync.Mutex
	watched []watched
}

type watched struct {
	dependency            *resilience.Dependency
	hasBreaker, hasBudget bool
}

func newDependencyCollector() *dependencyCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"dependency"}, labels...), nil)
	}
	return &dependencyCollector{
		state:  desc("circuit_breaker_state", "1 for the state the breaker is in, 0 for the others.", "state"),
		active: desc("bulkhead_active_calls", "Attempts in flight now."),
		limit:  desc("bulkhead_max_concurrent", "Most attempts that may be in flight."),
		tokens: desc("retry_budget_tokens", "Extra attempts still allowed now."),
	}
}

func (c *dependencyCollector) add(w watched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = append(c.watched, w)
}

// Describe implements prometheus.Collector.
func (c *dependencyCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.state
	ch <- c.active
	ch <- c.limit
	ch <- c.tokens
}

// Collect implements prometheus.Collector.
func (c *dependencyCollector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watched {
		c.collect(ch, w)
	}
}

func (c *dependencyCollector) collect(ch chan<- prometheus.Metric, w watched) {
	name, state := w.dependency.Name(), w.dependency.State()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{name}, labels...)...)
	}
	if w.hasBreaker {
		for _, s := range []resilience.BreakerState{resilience.BreakerClosed, resilience.BreakerOpen, resilience.BreakerHalfOpen} {
			gauge(c.state, oneIf(state.Breaker == s), string(s))
		}
	}
	if state.Limit > 0 {
		gauge(c.active, float64(state.InFlight))
		gauge(c.limit, float64(state.Limit))
	}
	if w.hasBudget {
		gauge(c.tokens, float64(state.BudgetLeft))
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
