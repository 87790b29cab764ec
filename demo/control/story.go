package control

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Story is the present in plain sentences, for somebody who sees the page for the first time.
type Story struct {
	Mood      string `json:"mood"` // well, broken, healing, missing, unknown
	Headline  string `json:"headline"`
	Hurt      string `json:"hurt"`
	Protected string `json:"protected"`
	Naive     string `json:"naive"`
	Why       string `json:"why"`
}

// tell makes the story of a state. It says only what was measured: nothing is promised here.
func tell(s State) Story {
	open := openBreakers(s.Services)
	lacks := s.Pages[protected].Lacks
	story := Story{Protected: sentenceOf(s.Pages[protected]), Naive: sentenceOf(s.Pages[naive])}
	switch {
	case s.Toxiproxy != "":
		story.Mood, story.Headline = "unknown", "The control room cannot reach Toxiproxy, so it cannot say what is broken."
	case len(s.Broken) > 0:
		story.Mood, story.Headline = "broken", headline(s.Broken)
		story.Hurt, story.Why = hurt(s.Broken), why(s.Broken, open)
	case len(open) == 0 && len(lacks) == 0:
		story.Mood, story.Headline = "well", "Nothing is broken. Both pages are the same shop on the same databases."
		story.Why = "One is protected against slow and failing neighbours, its naive twin is not. As long as all is well you cannot tell them apart."
	case len(s.Spans) > 0:
		story.Mood, story.Headline = "healing", "Everything is mended, and the shop is healing by itself."
		story.Hurt, story.Why = "Nothing any more.", healing(open, lacks)
	default: // a container that died, a machine that is busy with something else: no fault that could be switched off here
		story.Mood, story.Headline = "missing", "Nothing was broken from here, and still something is missing."
		story.Hurt, story.Why = missing(lacks), "A part has stopped, or this machine had no time to answer within the budget. "+healing(open, lacks)
	}
	return story
}

func headline(broken []Broken) string {
	var parts []string
	for _, b := range broken {
		what := map[string]string{
			"latency": "answers " + human(b.Amount) + " late", "hang": "does not answer at all", "refuse": "refuses connections",
			"reset": "cuts off every answer", "trickle": "answers one byte at a time", planKind: "has flipped",
		}[b.Kind]
		if what == "" {
			what = "is broken (" + b.Kind + ")"
		}
		if sentence := b.Place + " " + what; !slices.Contains(parts, sentence) {
			parts = append(parts, sentence)
		}
	}
	return strings.Join(parts, "; ") + "."
}

func hurt(broken []Broken) string {
	return strings.Join(each(broken, func(p Place) string { return p.Hurt }), " ")
}

func why(broken []Broken, open []string) string {
	text := strings.Join(each(broken, func(p Place) string { return p.Shielded }), " ")
	if len(open) > 0 {
		text += " Breakers that hold calls back now: " + few(open) + "."
	}
	return text
}

// each collects a sentence per broken place, once.
func each(broken []Broken, sentence func(Place) string) (list []string) {
	for _, b := range broken {
		if text := sentence(placeOf(b.Edge)); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

func missing(lacks []string) string {
	if len(lacks) == 0 {
		return "No page yet: only calls that a breaker holds back."
	}
	return "Not live on the last pages: " + strings.Join(lacks, " and ") + "."
}

func healing(open, lacks []string) string {
	if len(open) > 0 {
		return "A breaker does not trust at once. When its time is over it lets one call through to try, and closes if that succeeds. Not closed yet: " +
			few(open) + "."
	}
	return "The last pages still lacked " + strings.Join(lacks, " and ") + ". New ones should be whole within seconds."
}

// few keeps a sentence readable: the table below it has them all.
func few(list []string) string {
	if n := len(list); n > 3 {
		return strings.Join(list[:3], "; ") + fmt.Sprintf("; and %d more", n-3)
	}
	return strings.Join(list, "; ")
}

// openBreakers names those that do not let calls through as usual.
func openBreakers(services []Inside) (list []string) {
	for _, s := range services {
		for _, d := range s.Dependencies {
			if !d.HasBreaker || d.Breaker == "closed" {
				continue
			}
			text := s.Name + " → " + d.Name
			switch {
			case d.Held:
				text += ", forced by hand"
			case d.Breaker == "half_open" || d.RetryIn <= 0:
				text += ", trying again now"
			default:
				text += fmt.Sprintf(", next try in %.0f s", math.Ceil(d.RetryIn))
			}
			list = append(list, text)
		}
	}
	return list
}

// sentenceOf says what the visitors of the last five seconds got.
func sentenceOf(p Page) string {
	n := p.Now.Visits
	if n == 0 {
		return "No visitor has come yet."
	}
	unserved := int(math.Round(p.Now.Unserved * float64(n)))
	degraded := int(math.Round(p.Now.Degraded * float64(n)))
	switch {
	case unserved == n:
		return fmt.Sprintf("None of the last %d visitors has got a page%s.", n, longest(p))
	case unserved > 0:
		return fmt.Sprintf("%d of the last %d visitors have got no page%s.", unserved, n, longest(p))
	}
	text := fmt.Sprintf("All of the last %d visitors got a page, 95 of 100 within %s", n, human(p.Now.P95))
	switch {
	case degraded == n:
		return text + "; the page says that something is missing."
	case degraded > 0:
		return text + fmt.Sprintf("; on %d of them it says that something is missing.", degraded)
	}
	return text + "."
}

func longest(p Page) string {
	if p.Longest < tooLong.Seconds() {
		return ""
	}
	return fmt.Sprintf("; the first in the queue has waited %.0f s", p.Longest)
}

func human(ms float64) string {
	if ms < 1000 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}
