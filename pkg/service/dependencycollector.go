package service

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/resilience"
)

// dependencyCollector reads breakers and bulkheads when it is scraped. A gauge set by the last event would be stale: an open
// breaker becomes half-open by the passing of time, which is no event.
type dependencyCollector struct {
	state, held, active, limit, tokens          *prometheus.Desc
	adaptive, adaptiveInFlight, minRTT, changes *prometheus.Desc

	mu      sync.Mutex
	watched []*dependency
}

func newDependencyCollector() *dependencyCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"dependency"}, labels...), nil)
	}
	return &dependencyCollector{
		state:            desc("circuit_breaker_state", "1 for the state the breaker is in, 0 for the others.", "state"),
		held:             desc("circuit_breaker_held", "1 while the breaker is held open or closed by hand, else 0."),
		active:           desc("bulkhead_active_calls", "Attempts in flight now."),
		limit:            desc("bulkhead_max_concurrent", "Most attempts that may be in flight."),
		adaptive:         desc("adaptive_limit", "Where an adaptive limit is now, as bulkhead_max_concurrent; only for those that have one."),
		adaptiveInFlight: desc("adaptive_limit_inflight", "As bulkhead_active_calls; only for those that have an adaptive limit."),
		minRTT:           desc("adaptive_limit_min_rtt_seconds", "The latency that an adaptive limit takes for usual, and compares with; 0 until it has seen enough."),
		changes:          desc("adaptive_limit_changes_total", "How often an adaptive limit went up or down.", "direction"),
		tokens:           desc("retry_budget_tokens", "Extra attempts still allowed now."),
	}
}

// add shows d's present state in every scrape from now on.
func (c *dependencyCollector) add(d *dependency) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = append(c.watched, d)
}

// Describe implements prometheus.Collector.
func (c *dependencyCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.state, c.held, c.active, c.limit, c.tokens, c.adaptive, c.adaptiveInFlight, c.minRTT, c.changes,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *dependencyCollector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.watched {
		c.collect(ch, d)
	}
}

func (c *dependencyCollector) collect(ch chan<- prometheus.Metric, d *dependency) {
	name, state := d.Name(), d.State()
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, kind, value, append([]string{name}, labels...)...)
	}
	if d.hasBreaker() {
		for _, s := range []resilience.BreakerState{resilience.BreakerClosed, resilience.BreakerOpen, resilience.BreakerHalfOpen} {
			send(c.state, prometheus.GaugeValue, oneIf(state.Breaker == s), string(s))
		}
		send(c.held, prometheus.GaugeValue, oneIf(state.Held))
	}
	if state.Limit > 0 {
		send(c.active, prometheus.GaugeValue, float64(state.InFlight))
		send(c.limit, prometheus.GaugeValue, float64(state.Limit))
	}
	if d.isAdaptive() {
		send(c.adaptive, prometheus.GaugeValue, float64(state.Limit))
		send(c.adaptiveInFlight, prometheus.GaugeValue, float64(state.InFlight))
		send(c.minRTT, prometheus.GaugeValue, state.LimitBaseline.Seconds())
		send(c.changes, prometheus.CounterValue, float64(state.LimitRaised), "up")
		send(c.changes, prometheus.CounterValue, float64(state.LimitLowered), "down")
	}
	if d.hasBudget() {
		send(c.tokens, prometheus.GaugeValue, float64(state.BudgetLeft))
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
