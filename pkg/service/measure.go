package service

import (
	"encoding/hex"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/resilience"
)

// unmatched is the route of a request that fits none: the raw path as a label would let a stranger fill the memory.
const unmatched = "unmatched"

// knownMethods bounds the method label for the same reason (CVE-2022-21698).
var knownMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// httpBuckets, in seconds, have an edge at every promise of the articles (200 ms call, 300 ms, 500 ms page, 2 s call timeout,
// 4.8 s query), because a quantile is only interpolated between edges.
var httpBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .2, .3, .5, .75, 1, 2, 5}

type httpMetrics struct {
	duration    *prometheus.HistogramVec
	active      prometheus.Gauge
	panics      *prometheus.CounterVec
	badTimeouts prometheus.Counter
	simple      map[string]bool // routes, see NothingBehind
}

func newHTTPMetrics(reg prometheus.Registerer) *httpMetrics {
	m := &httpMetrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "http_server_request_duration_seconds",
			Help:    "Time to answer a request, by route template.",
			Buckets: httpBuckets,
		}, []string{"method", "route", "code"}),
		active: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_server_active_requests",
			Help: "Requests being answered now.",
		}),
		panics: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_server_panics_total",
			Help: "Handlers that panicked.",
		}, []string{"route"}),
		simple: map[string]bool{"/healthz": true, "/readyz": true},
		badTimeouts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "http_server_invalid_timeouts_total",
			Help: "X-Request-Timeout-Ms headers that made no sense and were ignored.",
		}),
	}
	reg.MustRegister(m.duration, m.active, m.panics, m.badTimeouts)
	return m
}

// prepare creates the series an alert looks at before their first event: rate() does not see the first increment of a series
// that did not exist.
func (m *httpMetrics) prepare(routes chi.Routes) error {
	m.panics.WithLabelValues(unmatched)
	return chi.Walk(routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		m.panics.WithLabelValues(route)
		if m.simple[route] {
			return nil
		}
		m.duration.WithLabelValues(methodLabel(method), route, "500")
		m.duration.WithLabelValues(methodLabel(method), route, "503")
		return nil
	})
}

// NothingBehind names routes that answer from memory. Their failures get no series before there is one: a histogram for each code of
// each picture would be a third of a scrape, and zero for ever.
func (s *Service) NothingBehind(routes ...string) {
	for _, route := range routes {
		s.http.simple[route] = true
	}
}

// measure counts and times each request by route template, and logs the ones somebody will ask about.
func (s *Service) measure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		begin := time.Now()
		returned := false
		s.http.active.Inc()
		defer func() { // also when the handler cuts the connection by a panic
			s.http.active.Dec()
			took, status := time.Since(begin), rec.finalStatus(r, returned)
			s.observe(r, strconv.Itoa(status), took)
			s.logRequest(r, status, took)
			s.traces.answered(r, status)
		}()
		next.ServeHTTP(rec, r)
		returned = true
	})
}

// observe counts the request. Slow and degraded ones leave their trace id in the bucket they fall into (an exemplar), so that the way
// from a dot in a dashboard to the log lines of that request is short. The others do not: an exemplar costs a microsecond.
func (s *Service) observe(r *http.Request, code string, took time.Duration) {
	duration := s.http.duration.WithLabelValues(methodLabel(r.Method), routeOf(r), code)
	trace, traced := resilience.TraceFromContext(r.Context())
	if exemplars, able := duration.(prometheus.ExemplarObserver); able && traced && (s.slow(took) || scopeOf(r.Context()).degraded) {
		exemplars.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": hex.EncodeToString(trace.ID[:])})
		return
	}
	duration.Observe(took.Seconds())
}

// slow is a quarter of what a request may take: somebody will ask about it.
func (s *Service) slow(took time.Duration) bool { return took > s.base.RequestTimeout/4 }

// finalStatus is what the client got, or would have got: 200 from a handler that wrote nothing, 499 when the client left first,
// 500 when the handler cut the connection.
func (rec *recorder) finalStatus(r *http.Request, returned bool) int {
	switch {
	case rec.status != 0:
		return rec.status
	case r.Context().Err() != nil:
		return statusClientGone
	case !returned:
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// logRequest writes one line with everything about the request, also the error that the client was not shown.
func (s *Service) logRequest(r *http.Request, status int, took time.Duration) {
	attrs := []slog.Attr{slog.String("method", methodLabel(r.Method)), slog.String("route", routeOf(r)),
		slog.String("path", r.URL.Path), slog.Int("status", status), slog.Float64("ms", milliseconds(took))}
	if p := scopeOf(r.Context()).problem; p != nil {
		attrs = append(attrs, slog.String("problem", p.Type), slog.String("error", p.Error()))
	}
	s.Log.LogAttrs(r.Context(), s.requestLevel(routeOf(r), status, took), "request", attrs...)
}

// requestLevel keeps the log readable under load: metrics count every request, the log shows failures and slow ones. Probes are
// silent, because the changes of their answer are logged.
func (s *Service) requestLevel(route string, status int, took time.Duration) slog.Level {
	switch {
	case route == "/readyz" || route == "/healthz":
		return slog.LevelDebug
	case status == http.StatusInternalServerError:
		return slog.LevelError
	case status > http.StatusInternalServerError:
		return slog.LevelWarn
	case s.slow(took):
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// routeOf is the route template; chi knows it only after routing.
func routeOf(r *http.Request) string {
	if rc := chi.RouteContext(r.Context()); rc != nil && rc.RoutePattern() != "" {
		return rc.RoutePattern()
	}
	return unmatched
}

func methodLabel(method string) string {
	if slices.Contains(knownMethods, method) {
		return method
	}
	return "_OTHER"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
