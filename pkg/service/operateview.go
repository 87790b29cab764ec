package service

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"sync"
	"time"

	"watertight.example/pkg/resilience"
)

// recentTransitions to keep: enough to see a breaker flap.
const recentTransitions = 8

// dependency is a resilience.Dependency with what operators and metrics want to know besides.
type dependency struct {
	*resilience.Dependency
	cfg resilience.Config

	mu     sync.Mutex
	recent []transitionView // the newest first
}

func (d *dependency) hasBreaker() bool { return d.cfg.Breaker != resilience.Breaker{} }
func (d *dependency) hasHedge() bool   { return d.cfg.Hedge != resilience.Hedge{} }
func (d *dependency) hasBudget() bool  { return d.cfg.Retry.Max > 0 || d.hasHedge() }
func (d *dependency) isAdaptive() bool { return d.cfg.Adaptive.Max > 0 }

// dependencyView is one entry of GET /resilience.
type dependencyView struct {
	Name       string           `json:"name"`
	State      resilience.State `json:"state"`
	HasBreaker bool             `json:"has_breaker"`
	HasBudget  bool             `json:"has_budget"`
	Policy     string           `json:"policy"`
	Recent     []transitionView `json:"recent"` // the newest first; its reason is why the breaker is where it is
}

type transitionView struct {
	At       time.Time               `json:"at"`
	From     resilience.BreakerState `json:"from"`
	To       resilience.BreakerState `json:"to"`
	Reason   string                  `json:"reason"`
	Calls    int                     `json:"calls"`
	Failures int                     `json:"failures"`
	Slow     int                     `json:"slow"`
}

func (d *dependency) remember(e resilience.TransitionEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recent = slices.Insert(d.recent, 0, transitionView{e.At, e.From, e.To, e.Reason, e.Calls, e.Failures, e.Slow})
	d.recent = d.recent[:min(len(d.recent), recentTransitions)]
}

func (d *dependency) view() dependencyView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return dependencyView{d.Name(), d.State(), d.hasBreaker(), d.hasBudget(), d.Describe(), append([]transitionView{}, d.recent...)}
}

//go:embed resilience.html
var operatorsHTML string

var operatorsPage = template.Must(template.New("").Parse(operatorsHTML))

// showDependencies answers with the present state of all dependencies in order of registration: a page for browsers, else JSON.
func (s *Service) showDependencies(w http.ResponseWriter, r *http.Request) {
	views := make([]dependencyView, 0, len(s.dependencies))
	for _, d := range s.dependencies {
		views = append(views, d.view())
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept")
	if !PrefersHTML(r) {
		_ = WriteJSON(w, http.StatusOK, map[string]any{"service": s.Name, "without": s.base.Without, "dependencies": views})
		return
	}
	var page bytes.Buffer
	if err := operatorsPage.Execute(&page, map[string]any{"Service": s.Name, "Dependencies": views}); err != nil {
		WriteProblem(w, r, problemOf(r.Context(), err))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// No script, and no frame: nobody can be made to press these buttons on another site's page.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	_, _ = w.Write(page.Bytes())
}
