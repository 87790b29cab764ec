package control

import (
	"embed"
	"io/fs"
	"net/http"
	"time"

	"watertight.example/demo/faults"
)

//go:embed static
var files embed.FS

// Handler is the page and its API.
func (r *Room) Handler() http.Handler {
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(static))
	mux.HandleFunc("GET /frames/{page}/{$}", r.handle(r.showFrame))
	mux.HandleFunc("GET /frames/{page}/{path...}", r.handle(r.showAsset))
	mux.HandleFunc("GET /api/choices", r.handle(r.showChoices))
	mux.HandleFunc("GET /api/state", r.handle(r.showState))
	mux.HandleFunc("GET /api/events", r.handle(r.showEvents))
	mux.HandleFunc("POST /api/faults", r.handle(r.setFaults))
	mux.HandleFunc("POST /api/plan", r.handle(r.flipPlan))
	mux.HandleFunc("POST /api/plan/analyze", r.handle(r.analyze))
	mux.HandleFunc("POST /api/mend", r.handle(r.mend))
	mux.HandleFunc("POST /api/incidents/{name}", r.handle(r.startIncident))
	mux.HandleFunc("GET /api/incidents/{name}/report", r.handle(r.showReport))
	return r.guard(mux)
}

// showState answers GET /api/state: the same as an event, for programs and for curl.
func (r *Room) showState(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, r.state(time.Now()))
}

// showChoices answers GET /api/choices: what can be broken, how, and which incidents can be played. It does not change.
func (r *Room) showChoices(w http.ResponseWriter, _ *http.Request) error {
	type choice struct {
		Name     string `json:"name"`
		Sentence string `json:"sentence"`
	}
	kinds, stories := []choice{}, []choice{}
	for _, k := range faults.Kinds() {
		kinds = append(kinds, choice{k.Name, k.Sentence})
	}
	for _, s := range r.incidents.stories() {
		stories = append(stories, choice{s.Name, s.Title + ": " + s.Fault + "."})
	}
	return answer(w, http.StatusOK, map[string]any{
		"places": places(), "plan": r.cfg.Plan != nil, "kinds": kinds, "incidents": stories, "visitors_per_second": r.cfg.Rate,
	})
}
