package control

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"watertight.example/demo/faults"
)

// State is everything that the page shows: one event.
type State struct {
	Now        time.Time       `json:"now"`
	Story      Story           `json:"story"`
	Broken     []Broken        `json:"broken"`
	Spans      []Span          `json:"spans"`     // of the time shown, in which something was broken
	Toxiproxy  string          `json:"toxiproxy"` // why faults are unknown; empty: they are known
	Pages      map[string]Page `json:"pages"`
	Services   []Inside        `json:"services"`
	Incident   *Playing        `json:"incident"` // the one that is played, or was played last
	Happenings []Happening     `json:"happenings"`
	Visitors   int             `json:"visitors"`
}

// Broken is one fault in force.
type Broken struct {
	Place   string    `json:"place"`
	Edge    string    `json:"edge"`
	Kind    string    `json:"kind"`
	Amount  float64   `json:"amount_ms,omitempty"` // of a latency
	Until   time.Time `json:"until"`
	Seconds float64   `json:"seconds"` // left; -1: without an end, not set from here
}

// Happening is something that was done here or ended by itself.
type Happening struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

const happeningsKept = 30

// state puts together what was read last.
func (r *Room) state(now time.Time) State {
	r.mu.Lock()
	s := State{
		Now: now, Broken: slices.Concat(r.broken, r.flipped), Toxiproxy: r.trouble,
		// Lists of their own, and never nil: the page walks through them, and null is no list.
		Services: append([]Inside{}, r.insides...), Happenings: append([]Happening{}, r.happenings...), Spans: append([]Span{}, r.spans...),
		Pages: map[string]Page{}, Visitors: r.visitors.count(), Incident: r.incidents.now(now),
	}
	r.mu.Unlock()
	s.Broken = left(s.Broken, now)
	for name, twin := range r.cfg.twins() {
		page := newPage(r.probes[name].visits(now), now)
		page.Shot, page.Public = r.cameras[name].shot(now), twin.Public
		s.Pages[name] = page
	}
	s.Story = tell(s)
	return s
}

// left says how long each fault still lasts. One whose time is over is about to be ended and counts as ended.
func left(all []Broken, now time.Time) []Broken {
	list := []Broken{}
	for _, b := range all {
		b.Seconds = -1
		if !b.Until.IsZero() {
			b.Seconds = b.Until.Sub(now).Round(100 * time.Millisecond).Seconds()
		}
		if b.Until.IsZero() || b.Seconds > 0 {
			list = append(list, b)
		}
	}
	return list
}

// newBroken translates what Toxiproxy holds.
func newBroken(active []faults.Active, edges map[string]faults.Edge) []Broken {
	list := []Broken{}
	for _, a := range active {
		b := Broken{Place: placeOf(a.Edge).Name, Edge: a.Edge, Kind: a.Kind, Until: a.Until}
		for _, t := range edges[a.Edge].Toxics {
			if a.Kind == "latency" && strings.HasPrefix(t.Name, "latency-") {
				b.Amount = float64(t.Attributes["latency"])
			}
		}
		list = append(list, b)
	}
	slices.SortStableFunc(list, func(a, b Broken) int { return cmp.Compare(a.Place, b.Place) })
	return list
}

// Span is a time in which something was broken, in Unix seconds.
type Span struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// extend adds the present to the spans and forgets those that no chart shows any more.
func extend(spans []Span, broken bool, now time.Time) []Span {
	at := float64(now.UnixMilli()) / 1000
	spans = slices.DeleteFunc(spans, func(s Span) bool { return at-s.To > shown.Seconds() })
	if !broken {
		return spans
	}
	if n := len(spans); n > 0 && at-spans[n-1].To < 2.5 { // seen broken a look or two ago: it still is
		spans[n-1].To = at
		return spans
	}
	return append(spans, Span{at, at})
}
