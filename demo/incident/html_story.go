package incident

import (
	"cmp"
	"slices"
)

// Moment is a line of the story as it was played: the beginning of a phase, or an event with its number in the chart.
type Moment struct {
	At     float64
	Phase  string // empty: an event
	Number int    // 0: a phase
	Says   string
}

// Story gives phases and events in their order.
func (r Report) Story() []Moment {
	var list []Moment
	for _, p := range r.Phases {
		list = append(list, Moment{At: p.From, Phase: p.Name, Says: p.Says})
	}
	for i, e := range r.Events {
		list = append(list, Moment{At: e.At, Number: i + 1, Says: e.Says})
	}
	slices.SortStableFunc(list, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	return list
}
