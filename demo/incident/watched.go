package incident

import "strings"

// Watched is what a service said over time about one of its dependencies.
type Watched struct {
	Name    string    `json:"name"` // service/dependency
	Breaker []Episode `json:"breaker"`
	Limit   []Level   `json:"limit"`  // each change
	Hedges  []Level   `json:"hedges"` // second attempts, by second; empty where nothing is hedged
}

// Episode is a time in which a breaker was in one state.
type Episode struct {
	State string  `json:"state"`
	From  float64 `json:"from_s"`
	To    float64 `json:"to_s"`
}

// Level is a value from a moment on.
type Level struct {
	At    float64 `json:"at_s"`
	Value float64 `json:"value"`
}

func watched(in Incident, r record) (list []Watched) {
	for _, p := range in.watched {
		i := r.place(p)
		list = append(list, Watched{p.String(), episodes(r, i.readings[p.Dependency]), limits(r, i.readings[p.Dependency]), hedges(r, i, p)})
	}
	return list
}

// episodes joins readings of the same state. Between two states the change is drawn at the later reading.
func episodes(r record, readings []reading) []Episode {
	var list []Episode
	for _, one := range readings {
		at := r.at(one.At)
		if n := len(list); n > 0 && at-list[n-1].To < 2 { // a gap of 2 s is a gap: nobody knows
			list[n-1].To = at
			if list[n-1].State == one.Breaker {
				continue
			}
		}
		list = append(list, Episode{one.Breaker, at, at})
	}
	return list
}

// limits gives the changes of a limit, and its last value once more at the end.
func limits(r record, readings []reading) (list []Level) {
	for i, one := range readings {
		if i == 0 || i == len(readings)-1 || one.Limit != readings[i-1].Limit {
			list = append(list, Level{r.at(one.At), float64(one.Limit)})
		}
	}
	return list
}

// hedges counts second attempts between one scrape and the next.
func hedges(r record, i insight, p Place) (list []Level) {
	for n, one := range i.scrapes {
		if n == 0 || !one.has(hedged, p) {
			continue
		}
		list = append(list, Level{r.at(one.At), one.secondAttempts(p) - i.scrapes[n-1].secondAttempts(p)})
	}
	return list
}

// secondAttempts is how many hedges a process has ever sent for a dependency.
func (s scrape) secondAttempts(p Place) float64 {
	return s.sum(hedged, p.label(), `outcome="primary_won"`) + s.sum(hedged, p.label(), `outcome="hedge_won"`) + s.sum(hedged, p.label(), `outcome="both_failed"`)
}

func (s scrape) has(metric string, p Place) bool {
	for name := range s.series {
		if strings.HasPrefix(name, metric+"{") && strings.Contains(name, p.label()) {
			return true
		}
	}
	return false
}

func (p Place) label() string { return `dependency="` + p.Dependency + `"` }
