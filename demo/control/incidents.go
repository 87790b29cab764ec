package control

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"watertight.example/demo/incident"
)

// Playing is an incident that is being played, or the last one that was.
type Playing struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Running  bool     `json:"running"`
	Seconds  float64  `json:"seconds"` // since it began
	Lines    []string `json:"lines"`   // what it said, the newest last
	Sentence string   `json:"sentence"`
	Report   string   `json:"report"` // address of the report, when there is one
}

const linesKept = 12

// incidents plays one at a time.
type incidents struct {
	cfg Config

	mu     sync.Mutex
	last   *Playing
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
	report []byte // of the last one, as HTML
}

func newIncidents(cfg Config) *incidents { return &incidents{cfg: cfg} }

// stories are those that can be played from here: without the engine's socket that is not all of them.
func (in *incidents) stories() (possible []incident.Incident) {
	for _, listed := range incident.All() {
		story, ok := incident.Find(listed.Name, incident.Options{
			Times: in.cfg.Incident, Edges: []string{"recommendations-postgres"}, Speed: incidentSpeed})
		if ok && story.Possible(in.config()) == nil {
			possible = append(possible, story)
		}
	}
	return possible
}

func (in *incidents) config() incident.Config {
	inside := map[string]string{}
	for _, s := range in.cfg.Services {
		if s.Name != "productpage" { // that is Protected
			inside[s.Name] = s.Internal
		}
	}
	return incident.Config{
		Protected: in.cfg.Protected.Twin, Naive: &in.cfg.Naive.Twin, Inside: inside, Rate: incidentRate,
		Toxiproxy: in.cfg.Toxiproxy, OpenFor: in.cfg.OpenFor, Books: in.cfg.Books, Plans: in.cfg.Plan,
		Terminal: in, Transport: in.cfg.Transport,
	}
}

func (in *incidents) running() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.last != nil && in.last.Running
}

// start plays a story on a goroutine of its own. over is called when it has ended.
func (in *incidents) start(story incident.Incident, over func(sentence string)) {
	ctx, cancel := context.WithCancel(context.Background())
	in.mu.Lock()
	defer in.mu.Unlock()
	in.last = &Playing{Name: story.Name, Title: story.Title, Running: true}
	in.began, in.cancel, in.done, in.report = time.Now(), cancel, make(chan struct{}), nil
	go func(done chan struct{}) {
		defer close(done)
		defer cancel()
		report, err := incident.Run(ctx, story, in.config())
		over(in.end(report, err))
	}(in.done)
}

// end keeps the report and says what it came to.
func (in *incidents) end(report incident.Report, err error) string {
	var page bytes.Buffer
	sentence := report.Sentence()
	if report.Began.IsZero() || report.WriteServed(&page) != nil {
		page.Reset()
		sentence = "It could not be played."
	}
	if err != nil {
		sentence = strings.TrimSpace(sentence + " " + err.Error())
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.last.Running, in.last.Sentence, in.last.Seconds = false, sentence, time.Since(in.began).Seconds()
	if page.Len() > 0 {
		in.report, in.last.Report = page.Bytes(), "/api/incidents/"+in.last.Name+"/report"
	}
	return sentence
}

// stop tells the story that is being played, if any, to end; it mends what it broke. wait returns when it has ended.
func (in *incidents) stop() (wait func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.cancel == nil {
		return func() {}
	}
	in.cancel()
	done := in.done
	return func() { <-done }
}

// Write implements io.Writer: the story's terminal.
func (in *incidents) Write(text []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		in.last.Lines = append(in.last.Lines, strings.TrimRight(line, "\n"))
	}
	in.last.Lines = in.last.Lines[max(0, len(in.last.Lines)-linesKept):]
	return len(text), nil
}

// now is a copy for a visitor; nil before the first.
func (in *incidents) now(at time.Time) *Playing {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.last == nil {
		return nil
	}
	p := *in.last
	p.Lines = slices.Clone(p.Lines)
	if p.Running {
		p.Seconds = at.Sub(in.began).Seconds()
	}
	return &p
}

// startIncident answers POST /api/incidents/{name}.
func (r *Room) startIncident(w http.ResponseWriter, req *http.Request) error {
	stories := r.incidents.stories()
	i := slices.IndexFunc(stories, func(s incident.Incident) bool { return s.Name == req.PathValue("name") })
	if i < 0 {
		return refuse(http.StatusNotFound, "not-found", fmt.Sprintf("There is no incident %q.", req.PathValue("name")))
	}
	r.acting.Lock()
	defer r.acting.Unlock()
	if r.incidents.running() {
		return refuse(http.StatusConflict, "incident-running", "An incident is being played already. Only one at a time can be judged.")
	}
	active, err := r.proxies.Active(req.Context())
	if err != nil {
		return refuse(http.StatusBadGateway, "no-answer", "Toxiproxy does not answer.")
	}
	if len(active) > 0 || r.planIsFlipped() {
		return refuse(http.StatusConflict, "broken-already", "Something is broken already. Mend everything first, or wait until it ends by itself.")
	}
	r.incidents.start(stories[i], func(sentence string) { r.note("%s is over. %s", stories[i].Title, sentence) })
	r.note("%s begins", stories[i].Title)
	return answer(w, http.StatusAccepted, map[string]any{"incident": stories[i].Name})
}

// showReport answers GET /api/incidents/{name}/report.
func (r *Room) showReport(w http.ResponseWriter, req *http.Request) error {
	r.incidents.mu.Lock()
	last, report := r.incidents.last, r.incidents.report
	r.incidents.mu.Unlock()
	if last == nil || report == nil || last.Name != req.PathValue("name") {
		return refuse(http.StatusNotFound, "not-found", "There is no report of such an incident.")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// One file that needs nothing else: its style is inside, it has no script.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
	_, err := w.Write(report)
	return err
}
