package service

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
)

// Program is one service: what Run needs to know.
type Program struct {
	// Name is the service's name in logs and in the service label of every metric.
	Name string
	// Summary is one sentence for -h.
	Summary string
	// Config is filled from the environment before Build.
	Config Configurable
	// Edge says that strangers call this service directly: what their headers claim about deadline, attempt, customer and
	// trace sampling is dropped.
	Edge bool
	// Build wires dependencies in and routes out. It must not wait for anything remote: that is what Service.Start is for.
	Build func(s *Service) error
}

// Service is what Build works with. Its exported fields may be set, and its methods called, only inside Build; Degraded alone
// belongs into handlers.
type Service struct {
	Name string
	Log  *slog.Logger
	// Router is the public one. Its routes already have request id, trace, metrics, panic and problem handling, a deadline
	// and a body limit, and answer 503 until the start-up tasks are through.
	Router chi.Router
	// Metrics registers collectors with the service label attached.
	Metrics prometheus.Registerer
	// ErrorPage, when set, answers browsers instead of problem+json. It writes status, headers and body.
	ErrorPage func(w http.ResponseWriter, r *http.Request, p *Problem)
	// Headers are set on every public answer before its handler runs, error pages included.
	Headers http.Header

	base     *Base
	edge     bool
	root     *chi.Mux
	registry *prometheus.Registry
	http     *httpMetrics
	calls    *dependencyMetrics
	degraded *prometheus.CounterVec
	traces   *traces // nil: nobody wants them
	health   *health
	draining atomic.Bool

	dependencies []*dependency
	startup      []task
	workers      []task
	stops        []task
}

// task is a named step of the service's life.
type task struct {
	name string
	run  func(ctx context.Context) error
}

// newService makes a service without routes; nothing runs yet.
func newService(p Program, log *slog.Logger) *Service {
	s := &Service{Name: p.Name, Log: log, base: p.Config.Common(), edge: p.Edge, Headers: http.Header{}}
	s.Headers.Set("X-Content-Type-Options", "nosniff")
	s.registry, s.Metrics = newRegistry(p.Name)
	s.http = newHTTPMetrics(s.Metrics)
	s.calls = newDependencyMetrics(s.Metrics)
	s.degraded = newDegraded(s.Metrics)
	s.health = newHealth(log)
	s.root = s.newRouter()
	return s
}

// Ready adds a critical dependency to /readyz: the service takes no traffic while check fails. check gets at most 3 s and is
// asked at most once a second, however many probes come. Add only what no answer can do without: an optional part degrades.
func (s *Service) Ready(name string, check func(ctx context.Context) error) {
	s.health.checks = append(s.health.checks, task{name, check})
}

// Start adds a start-up task. Tasks run one after the other in order of registration; each is retried with backoff until it
// succeeds, and the service is not ready before the last one did.
func (s *Service) Start(name string, f func(ctx context.Context) error) {
	s.startup = append(s.startup, task{name, f})
	s.health.pending = append(s.health.pending, name)
}

// Go adds a background worker. It starts after the last start-up task and its context ends at the drain, after the last
// request was answered. When it returns an error or panics it is restarted with backoff; nil means it is done.
func (s *Service) Go(name string, f func(ctx context.Context) error) {
	s.workers = append(s.workers, task{name, f})
}

// OnStop adds a step of the stop, run after the servers are closed and the workers have ended, in reverse order of
// registration. f gets a context that bounds it.
func (s *Service) OnStop(name string, f func(ctx context.Context) error) {
	s.stops = append(s.stops, task{name, f})
}
