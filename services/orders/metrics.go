package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/idempotency"
)

// How an attempt to place an order ended: what orders_outcomes_total counts.
const (
	outcomeConfirmed = "confirmed" // a new order
	outcomeRefused   = "refused"   // a final "no", stored
	outcomeRecalled  = "recalled"  // answered from an order whose key was reaped
	outcomeReleased  = "released"  // transient: the key may try again
	outcomeFenced    = "fenced"    // somebody else took over
	outcomeUnknown   = "unknown"   // nobody knows whether it committed
)

// metrics are this service's own; requests, dependencies and pools are counted by the chassis.
type metrics struct {
	keys       *prometheus.CounterVec // result
	outcomes   *prometheus.CounterVec // outcome
	events     *prometheus.CounterVec // kind, result
	waiting    *prometheus.GaugeVec   // kind
	parked     *prometheus.GaugeVec   // kind
	completed  prometheus.Counter
	unreadable prometheus.Counter
	cancelled  prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"kind"})
	}
	m := &metrics{
		keys:       counter("idempotency_requests_total", "Requests with an idempotency key, by what the key said.", "result"),
		outcomes:   counter("orders_outcomes_total", "Attempts to place an order, by how they ended; confirmed counts new orders.", "outcome"),
		events:     counter("outbox_events_total", "Events sent, by what became of them.", "kind", "result"),
		waiting:    gauge("outbox_waiting_events", "Events not delivered yet."),
		parked:     gauge("outbox_parked_events", "Events a receiver will not take; each needs a human."),
		completed:  prometheus.NewCounter(prometheus.CounterOpts{Name: "orders_completed_total", Help: "Abandoned keys brought to an answer by the completer."}),
		unreadable: prometheus.NewCounter(prometheus.CounterOpts{Name: "orders_unreadable_total", Help: "Abandoned keys refused because what was wanted cannot be read; each means that a row was damaged."}),
		cancelled:  prometheus.NewCounter(prometheus.CounterOpts{Name: "orders_cancelled_total", Help: "Confirmed orders taken back by their customer."}),
	}
	reg.MustRegister(m.keys, m.outcomes, m.events, m.waiting, m.parked, m.completed, m.unreadable, m.cancelled)
	for _, result := range idempotency.Results() {
		m.keys.WithLabelValues(string(result))
	}
	for _, outcome := range []string{outcomeConfirmed, outcomeRefused, outcomeRecalled, outcomeReleased, outcomeFenced, outcomeUnknown} {
		m.outcomes.WithLabelValues(outcome)
	}
	for _, kind := range kinds() {
		m.waiting.WithLabelValues(kind)
		m.parked.WithLabelValues(kind)
		for _, result := range []string{delivered, retried, parked} {
			m.events.WithLabelValues(kind, result)
		}
	}
	return m
}

func (m *metrics) key(r idempotency.Result)  { m.keys.WithLabelValues(string(r)).Inc() }
func (m *metrics) outcome(outcome string)    { m.outcomes.WithLabelValues(outcome).Inc() }
func (m *metrics) event(kind, result string) { m.events.WithLabelValues(kind, result).Inc() }

// outcomeOf names an attempt that ended without an answer.
func outcomeOf(err error) string {
	var r *idempotency.Refusal
	switch {
	case errors.Is(err, idempotency.ErrFenced):
		return outcomeFenced
	case errors.As(err, &r) && r.Name == idempotency.OutcomeUnknown:
		return outcomeUnknown
	}
	return outcomeReleased
}

// watch keeps the gauges of the outbox current. A count that fails leaves them as they are.
func (m *metrics) watch(ctx context.Context, s *store) error {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		if waiting, parked, err := s.backlog(ctx); err == nil {
			for _, kind := range kinds() {
				m.waiting.WithLabelValues(kind).Set(float64(waiting[kind]))
				m.parked.WithLabelValues(kind).Set(float64(parked[kind]))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
