package main

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are inventory's own; requests, dependencies and pools are counted by
// the chassis. Every series exists from the start, so that a rate is never missing.
type metrics struct {
	reservations *prometheus.CounterVec // operation, result
	sweeps       *prometheus.CounterVec // result
	snapshot     *prometheus.CounterVec // result
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		reservations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inventory_reservations_total", Help: "Answers about reservations: stock moved, an earlier answer replayed, refused, or failed.",
		}, []string{"operation", "result"}),
		sweeps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inventory_sweeps_total", Help: "Expired holds looked at: committed or released on orders' word, kept without it.",
		}, []string{"result"}),
		snapshot: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inventory_snapshot_keys_total", Help: "Counts for Redis: written, kept because Redis knew better, failed, dropped because the queue was full.",
		}, []string{"result"}),
	}
	reg.MustRegister(m.reservations, m.sweeps, m.snapshot)
	for _, operation := range []string{"reserve", "commit", "release", "restock"} {
		for _, result := range []string{"moved", "replayed", "short", "refused", "failed"} {
			m.reservations.WithLabelValues(operation, result)
		}
	}
	for _, result := range []string{sweepCommitted, sweepReleased, sweepKept} {
		m.sweeps.WithLabelValues(result)
	}
	for _, result := range []string{"written", "kept", "failed", "dropped"} {
		m.snapshot.WithLabelValues(result)
	}
	return m
}

// reservation counts one answer of the store.
func (m *metrics) reservation(operation string, r Reservation, err error) {
	var short *ShortError
	result := "failed"
	switch {
	case err == nil && r.Moved:
		result = "moved"
	case err == nil:
		result = "replayed"
	case errors.As(err, &short):
		result = "short"
	case isRefusal(err):
		result = "refused"
	}
	m.reservations.WithLabelValues(operation, result).Inc()
}
