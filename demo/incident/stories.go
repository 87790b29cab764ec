package incident

import (
	"slices"
	"time"
)

// Story is an incident as a list names it.
type Story struct {
	Name, Title, Sentence string
	Engine                bool // it kills containers
}

// Options are what a person may choose of a story that is found by its name.
type Options struct {
	Times Times    // of opening
	Edges []string // of opening: between recommendations and its database
	Speed float64  // divides the waits of all others; 1 is real time
}

// All lists every story that can be played, in the order in which one would read them.
func All() (list []Story) {
	for _, in := range incidents(Options{Times: Times{time.Second, time.Second, time.Second}, Speed: 1}) {
		list = append(list, Story{in.Name, in.Title, in.Fault, in.needs.engine})
	}
	return list
}

// Find gives the story of a name; ok is false when there is none.
func Find(name string, o Options) (in Incident, ok bool) {
	all := incidents(o)
	i := slices.IndexFunc(all, func(in Incident) bool { return in.Name == name })
	if i < 0 {
		return Incident{}, false
	}
	return all[i], true
}

func incidents(o Options) []Incident {
	return []Incident{Opening(o.Times, o.Edges...), Outage(o.Speed), RetryStorm(o.Speed), RedisLoss(o.Speed), Casualties(o.Speed), RestartAll(o.Speed)}
}
