package service

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	checkTimeout = 3 * time.Second // a check that takes longer has failed
	checkCache   = time.Second     // so that probes, however many, cannot hammer a sick database
)

// health knows whether the service can take traffic.
type health struct {
	log     *slog.Logger
	checks  []task // set by Build, read-only after
	started atomic.Bool

	mu      sync.Mutex
	pending []string // start-up tasks not done yet
	missing []string // result of the last round of checks
	checked time.Time
	logged  string // what was missing when that was last logged

	flight singleflight.Group
}

func newHealth(log *slog.Logger) *health { return &health{log: log, logged: "start-up"} }

// done strikes a start-up task off the list.
func (h *health) done(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.pending, name); i >= 0 {
		h.pending = slices.Delete(h.pending, i, i+1)
	}
}

// waitingFor names everything that keeps the service from taking traffic; empty means ready.
func (h *health) waitingFor() []string {
	h.mu.Lock()
	if len(h.pending) > 0 || !h.started.Load() {
		defer h.mu.Unlock()
		return append([]string{"start-up"}, h.pending...)
	}
	if !h.checked.IsZero() && time.Since(h.checked) < checkCache {
		defer h.mu.Unlock()
		return h.missing
	}
	h.mu.Unlock()
	missing, _, _ := h.flight.Do("", func() (any, error) { return h.check(), nil })
	return missing.([]string)
}

// check asks all critical dependencies at once. It has no caller's context: a probe that hangs up must not spoil the answer
// for the others.
func (h *health) check() []string {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	failures := make([]error, len(h.checks))
	var wg sync.WaitGroup
	for i, c := range h.checks {
		wg.Go(func() { failures[i] = guarded(ctx, c.run) })
	}
	wg.Wait()
	var missing []string
	for i, err := range failures {
		if err != nil {
			missing = append(missing, h.checks[i].name)
		}
	}
	h.remember(missing, failures)
	return missing
}

// remember keeps the result for a moment and logs changes.
func (h *health) remember(missing []string, failures []error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.missing, h.checked = missing, time.Now()
	now := strings.Join(missing, ", ")
	switch {
	case now == h.logged:
		return
	case now == "":
		h.log.Info("ready")
	default:
		h.log.Warn("not ready", "missing", missing, "errors", texts(failures))
	}
	h.logged = now
}

func texts(errs []error) []string {
	var out []string
	for _, err := range errs {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	return out
}

// healthz says that the process lives. It asks nothing else: a restart does not mend a database.
func (s *Service) healthz(w http.ResponseWriter, _ *http.Request) {
	_ = WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz says whether to send traffic here, and what is missing. Errors stay in the log: this listener is public.
func (s *Service) readyz(w http.ResponseWriter, _ *http.Request) {
	waiting := s.health.waitingFor()
	if s.draining.Load() {
		waiting = []string{"draining"}
	}
	if len(waiting) > 0 {
		_ = WriteJSON(w, http.StatusServiceUnavailable, map[string]any{"status": "not ready", "waiting_for": waiting})
		return
	}
	_ = WriteJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
