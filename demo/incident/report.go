package incident

import (
	"fmt"
	"slices"
	"time"

	"watertight.example/demo/load"
)

// Report is an incident in figures: what the JSON file holds and the HTML page shows. Times count in seconds from the
// first visitor, latencies in milliseconds.
type Report struct {
	Incident string    `json:"incident"`
	Title    string    `json:"title"`
	Fault    string    `json:"fault"`
	Began    time.Time `json:"began"`
	Rate     int       `json:"requests_per_second"` // on each page
	Seconds  float64   `json:"seconds"`
	Stopped  bool      `json:"stopped_early"`
	Phases   []Phase   `json:"phases"`
	Verdicts []Verdict `json:"verdicts"`
	Twins    []Seen    `json:"pages"` // the protected one, and the naive one if it was looked at
	Events   []Event   `json:"events"`
	Watched  []Watched `json:"dependencies"`
	Without  string    `json:"without,omitempty"`
	Speed    float64   `json:"speed,omitempty"` // what the story's waits were divided by
	Machine  Machine   `json:"machine"`
}

// Machine says how well it could be measured: load, shop and stores share a machine, which may share its processors in turn.
type Machine struct {
	Pauses  int     `json:"pauses"`
	Longest float64 `json:"longest_pause_ms"`
	Answers int     `json:"answers_disturbed"` // of the protected page; what the pauses took is subtracted before they are judged
}

// Phase is a chapter of the story.
type Phase struct {
	Name string  `json:"name"`
	Says string  `json:"says"`
	Sick bool    `json:"sick"` // something is broken in it
	From float64 `json:"from_s"`
	To   float64 `json:"to_s"`
}

// Event is a moment that the chart marks.
type Event struct {
	At   float64 `json:"at_s"`
	Says string  `json:"says"`
}

// Seen is everything that visitors saw of one page.
type Seen struct {
	Name   string   `json:"name"`
	Target string   `json:"target"`
	Routes []Route  `json:"routes"`
	Series []Second `json:"series"`
	Pages  []Dot    `json:"product_pages"`
}

// Route is one kind of page in one phase; the percentiles are of all its answers, failed ones included.
type Route struct {
	Phase    string    `json:"phase"`
	Kind     load.Kind `json:"kind"`
	Answers  int       `json:"answers"`
	Degraded int       `json:"degraded"`
	Failed   int       `json:"failed"`
	P50      float64   `json:"p50_ms"`
	P95      float64   `json:"p95_ms"`
	Max      float64   `json:"max_ms"`
}

// plus adds up two phases. The p95 is the greater one: that of both together cannot be had from the two, and is no greater.
func (r *Route) plus(other Route) *Route {
	if r == nil {
		return &other
	}
	r.Answers, r.Degraded, r.Failed = r.Answers+other.Answers, r.Degraded+other.Degraded, r.Failed+other.Failed
	r.P50, r.P95, r.Max = max(r.P50, other.P50), max(r.P95, other.P95), max(r.Max, other.Max)
	return r
}

// Second is the product pages asked for within one second.
type Second struct {
	At       int     `json:"at_s"`
	Answers  int     `json:"answers"`
	Degraded int     `json:"degraded"`
	Failed   int     `json:"failed"`
	P50      float64 `json:"p50_ms"`
	P95      float64 `json:"p95_ms"`
	P99      float64 `json:"p99_ms"` // of this second and the four before it: one second alone has too few pages
}

// Dot is one product page: a raw sample. In JSON it is short, [at_s, ms, "full"], because there are thousands.
type Dot struct {
	At, MS float64
	Class  load.Class
}

// MarshalJSON implements json.Marshaler.
func (d Dot) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%.3f,%.1f,%q]", d.At, d.MS, d.Class), nil
}

// Broken gives the promises that were broken by whoever made them.
func (r Report) Broken() []Verdict { return r.with(Fail) }

// Unjudged gives the promises that could not be measured.
func (r Report) Unjudged() []Verdict { return r.with(NotMeasured) }

func (r Report) with(result Result) (list []Verdict) {
	for _, v := range r.Verdicts {
		if v.Result() == result {
			list = append(list, v)
		}
	}
	return list
}

func newReport(in Incident, cfg Config, r record) Report {
	rep := Report{
		Incident: in.Name, Title: in.Title, Fault: in.Fault, Began: r.began, Rate: cfg.Rate, Stopped: r.stopped,
		Verdicts: linked(in.judge(r)), Watched: watched(in, r), Without: cfg.Without, Speed: r.speed,
		Machine: Machine{len(r.protected.pauses), millis(r.protected.pauses.Longest()), r.protected.count(r.protected.disturbed)},
		Twins:   []Seen{newSeen("protected", cfg.Protected, r, r.protected)},
	}
	if r.naive != nil {
		rep.Twins = append(rep.Twins, newSeen("naive", *cfg.Naive, r, r.naive))
	}
	for _, p := range r.phases {
		rep.Phases = append(rep.Phases, Phase{p.Name, p.Says, p.Sick, r.at(p.From), r.at(p.To)})
		rep.Seconds = r.at(p.To)
	}
	for _, e := range r.events {
		rep.Events = append(rep.Events, Event{r.at(e.At), e.Says})
	}
	return rep
}

// at is a moment in seconds from the beginning, to the millisecond.
func (r record) at(t time.Time) float64 { return t.Sub(r.began).Round(time.Millisecond).Seconds() }

func newSeen(name string, twin Twin, r record, s *seen) Seen {
	out := Seen{Name: name, Target: twin.Target}
	for _, p := range r.phases {
		for _, kind := range load.Kinds() {
			if all := s.of(kind).in(p); len(all) > 0 || slices.Contains(always, kind) {
				out.Routes = append(out.Routes, newRoute(p.Name, kind, all))
			}
		}
	}
	bySecond := make(map[int]samples)
	last := 0
	for _, page := range s.of(load.Product) {
		at := r.at(page.At)
		out.Pages = append(out.Pages, Dot{at, millis(page.Latency), page.Class})
		bySecond[int(at)] = append(bySecond[int(at)], page)
		last = max(last, int(at))
	}
	for i := range last + 1 {
		if all := bySecond[i]; len(all) > 0 {
			out.Series = append(out.Series, Second{i, len(all), all.count(degraded), all.count(failed), millis(all.quantile(0.5)), millis(all.p95()), millis(lately(bySecond, i).quantile(0.99))})
		}
	}
	return out
}

// always are the kinds of pages that every story is about.
var always = []load.Kind{load.Product, load.Browse, load.Order}

// lately is a second and the four before it.
func lately(bySecond map[int]samples, second int) (all samples) {
	for i := second - 4; i <= second; i++ {
		all = append(all, bySecond[i]...)
	}
	return all
}

func newRoute(phase string, kind load.Kind, all samples) Route {
	return Route{phase, kind, len(all), all.count(degraded), all.count(failed),
		millis(all.quantile(0.5)), millis(all.p95()), millis(all.quantile(1))}
}

func millis(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}
