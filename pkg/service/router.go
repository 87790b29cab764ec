package service

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// newRouter builds the public router. The order matters: the scope gives every later step its request id; metrics see the
// 500 that recovery writes; health is asked outside the gate, or a starting service could never say what it waits for.
func (s *Service) newRouter() *chi.Mux {
	root := chi.NewRouter()
	root.Use(s.open, s.measure, s.recoverPanic, s.closeWhenDraining, middleware.GetHead)
	root.NotFound(func(w http.ResponseWriter, r *http.Request) {
		WriteProblem(w, r, NewProblem(http.StatusNotFound, "not-found", "There is nothing at this address."))
	})
	root.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", strings.Join(allowedMethods(root, r), ", "))
		WriteProblem(w, r, NewProblem(http.StatusMethodNotAllowed, "method-not-allowed", "This address does not take such requests."))
	})
	root.Get("/healthz", s.healthz)
	root.Get("/readyz", s.readyz)
	root.Group(func(r chi.Router) {
		r.Use(s.gate, s.deadline, s.limitBody)
		s.Router = r
	})
	return root
}

// allowedMethods asks the router itself, because chi tells a custom 405 handler nothing (RFC 9110 15.5.6 demands Allow).
func allowedMethods(root *chi.Mux, r *http.Request) []string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	var allowed []string
	for _, method := range knownMethods {
		asked := method
		if method == http.MethodHead {
			asked = http.MethodGet // middleware.GetHead answers it
		}
		if root.Match(chi.NewRouteContext(), asked, path) {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

// gate answers 503 until the start-up tasks are through: a store that is not migrated yet must not be asked.
func (s *Service) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.health.started.Load() {
			WriteProblem(w, r, starting())
			return
		}
		next.ServeHTTP(w, r)
	})
}

func starting() *Problem {
	return NewProblem(http.StatusServiceUnavailable, "starting", "The service is starting.").WithRetryAfter(retrySoon)
}

func (s *Service) limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, s.base.MaxBodyBytes)
		next.ServeHTTP(w, r)
	})
}

// closeWhenDraining asks clients to open their next connection elsewhere. (Server.SetKeepAlivesEnabled would also close idle
// connections at once, and lose the request that is just being sent on one.)
func (s *Service) closeWhenDraining(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
