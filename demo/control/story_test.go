package control

import (
	"strings"
	"testing"
)

func TestStories(t *testing.T) {
	ok := Page{Now: Point{Visits: 20, P95: 38}}
	half := Page{Now: Point{Visits: 20, P95: 9000, Unserved: 0.7}, Longest: 9}
	marked := Page{Now: Point{Visits: 20, P95: 38, Degraded: 1}, Lacks: []string{"recommendations"}}
	open := []Inside{{Name: "productpage", Dependencies: []Dependency{
		{Name: "recommendations", HasBreaker: true, Breaker: "open", RetryIn: 11.2}, {Name: "x", Breaker: "open"}}}}
	lately := []Span{{From: 1, To: 31}}
	slow := []Broken{
		{Place: "Recommendations", Edge: "productpage-recommendations", Kind: "latency", Amount: 4800},
		{Place: "Recommendations", Edge: "naive-recommendations", Kind: "latency", Amount: 4800}}
	for name, c := range map[string]struct {
		state State
		mood  string
		says  []string
		never string
	}{
		"well":      {State{Pages: map[string]Page{protected: ok, naive: half}}, "well", []string{"Nothing is broken", "95 of 100 within 38 ms"}, "open"},
		"broken":    {State{Pages: map[string]Page{protected: marked, naive: half}, Broken: slow, Services: open}, "broken", []string{"Recommendations answers 4.8 s late.", "14 of the last 20 visitors have got no page; the first in the queue has waited 9 s", "says that something is missing", "productpage → recommendations, next try in 12 s", "optional part"}, "productpage → x"},
		"healing":   {State{Pages: map[string]Page{protected: marked, naive: ok}, Services: open, Spans: lately}, "healing", []string{"Everything is mended", "Not closed yet: productpage → recommendations"}, "Nothing is broken"},
		"forced":    {State{Services: []Inside{{Name: "orders", Dependencies: []Dependency{{Name: "redis", HasBreaker: true, Breaker: "open", Held: true}}}}}, "missing", []string{"orders → redis, forced by hand", "No page yet"}, "next try"},
		"starved":   {State{Pages: map[string]Page{protected: marked, naive: ok}}, "missing", []string{"Nothing was broken from here", "Not live on the last pages: recommendations."}, "is mended"},
		"unknown":   {State{Toxiproxy: "refused"}, "unknown", []string{"cannot reach Toxiproxy"}, "Nothing is broken"},
		"a strange": {State{Broken: []Broken{{Place: "odd", Edge: "odd", Kind: "slicer"}}}, "broken", []string{"odd is broken (slicer)"}, ""},
	} {
		s := tell(c.state)
		all := strings.Join([]string{s.Headline, s.Hurt, s.Protected, s.Naive, s.Why}, " | ")
		if s.Mood != c.mood {
			t.Errorf("%s: mood %s", name, s.Mood)
		}
		for _, says := range c.says {
			if strings.Count(all, says) != 1 {
				t.Errorf("%s: %q is there %d times in: %s", name, says, strings.Count(all, says), all)
			}
		}
		if c.never != "" && strings.Contains(all, c.never) {
			t.Errorf("%s: says %q: %s", name, c.never, all)
		}
	}
}
