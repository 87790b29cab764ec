package control

import (
	"context"
	"net/http"
	"time"

	"watertight.example/demo/planflip"
)

// The plan flip is the one fault that Toxiproxy cannot make: the same query a thousand times slower, by its statistics alone.
const (
	planEdge = "recommendations-plan" // its name among the edges
	planKind = "plan-flip"
	flipTime = 30 * time.Second // to flip or to mend: it takes seconds on half a processor
)

// readPlan keeps what the planner of recommendations' Postgres believes. A database that does not answer is no news: the flip
// has its end in that database, and the janitor there.
func (r *Room) readPlan(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	status, err := planflip.State(ctx, r.cfg.Plan)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flipped = nil
	if status.Broken() {
		r.flipped = []Broken{{Place: placeOf(planEdge).Name, Edge: planEdge, Kind: planKind, Until: status.Until}}
	}
}

// flipPlan answers POST /api/plan with {"for": "30s"}.
func (r *Room) flipPlan(w http.ResponseWriter, req *http.Request) error {
	var o struct {
		For string `json:"for"`
	}
	if err := decode(w, req, &o); err != nil {
		return err
	}
	length, err := duration("for", o.For, defaultFault)
	if err == nil {
		err = bounded(length)
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid-parameter", err.Error())
	}
	if r.cfg.Plan == nil {
		return refuse(http.StatusNotFound, "not-found", "The control room was started without the database of recommendations.")
	}
	r.acting.Lock()
	defer r.acting.Unlock()
	if r.incidents.running() {
		return errPlaying
	}
	// Not the visitor's context: who closes the page half-way must not leave it half done.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), flipTime)
	defer cancel()
	status, err := planflip.Flip(ctx, r.cfg.Plan, length)
	if err != nil {
		return refuse(http.StatusBadGateway, "cannot-break", err.Error())
	}
	r.readPlan(ctx)
	r.note("%s: %s for %s", placeOf(planEdge).Name, planKind, length)
	return answer(w, http.StatusCreated, map[string]any{"kind": planKind, "until": status.Until})
}

// analyze answers POST /api/plan/analyze: ANALYZE, the cure. It does no harm when nothing is flipped.
func (r *Room) analyze(w http.ResponseWriter, req *http.Request) error {
	if r.cfg.Plan == nil {
		return refuse(http.StatusNotFound, "not-found", "The control room was started without the database of recommendations.")
	}
	r.acting.Lock()
	defer r.acting.Unlock()
	if err := r.mendPlan(req.Context()); err != nil {
		return refuse(http.StatusBadGateway, "cannot-mend", err.Error())
	}
	r.note("ANALYZE: the statistics are right again")
	return answer(w, http.StatusOK, map[string]any{"analyzed": true})
}

func (r *Room) planIsFlipped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.flipped) > 0
}

func (r *Room) mendPlan(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flipTime)
	defer cancel()
	if err := planflip.Analyze(ctx, r.cfg.Plan); err != nil {
		return err
	}
	r.readPlan(ctx)
	return nil
}
