package service

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
)

func newDegraded(reg prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "degraded_responses_total",
		Help: "Answers sent without all of their parts; against requests it shows the incident that zero errors hide.",
	}, []string{"route", "reason"})
	reg.MustRegister(c)
	return c
}

// CanDegrade creates the counters of a route's reasons at zero, so that the first degraded answer already shows in a rate.
// Reasons are a small fixed set: fallback_cache, fallback_empty, stale.
func (s *Service) CanDegrade(route string, reasons ...string) {
	for _, reason := range reasons {
		s.degraded.WithLabelValues(route, reason)
	}
}

// Degraded counts and logs an answer that is sent without some of its parts. Call it once per answer, from the handler, with
// the worst reason, on the request's own goroutine.
func (s *Service) Degraded(r *http.Request, reason string, parts ...string) {
	s.degraded.WithLabelValues(routeOf(r), reason).Inc()
	scopeOf(r.Context()).degraded = true
	s.traces.degraded(r.Context(), reason, parts)
	s.Log.InfoContext(r.Context(), "degraded answer", "route", routeOf(r), "reason", reason, "parts", parts)
}
