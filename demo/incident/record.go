package incident

import "time"

// record is everything the verdicts are computed from.
type record struct {
	began          time.Time
	phases         []phase
	events         []event
	broken, mended time.Time
	stopped        bool // before the story was over
	openFor        time.Duration
	protected      *seen
	naive          *seen              // nil when it was not looked at
	services       map[string]insight // of the other services, by name
	customers      []presses
	ledger         ledger
	rate           int     // visitors per second
	speed          float64 // what its waits were divided by; 0: they were not
}

// phase gives the named phase; one that was never reached is empty.
func (r record) phase(name string) phase {
	for _, p := range r.phases {
		if p.Name == name {
			return p
		}
	}
	return phase{Name: name}
}

// acts are the phases within p in which something was broken.
func (r record) acts(p phase) (list []phase) {
	for _, act := range r.phases {
		if act.Sick && !act.From.Before(p.From) && act.From.Before(p.To) {
			list = append(list, act)
		}
	}
	return list
}

// span is from the beginning of one phase to the end of another.
func (r record) span(first, last string) phase {
	p := phase{Name: first, From: r.phase(first).From, To: r.phase(last).To}
	if p.To.IsZero() && len(r.phases) > 0 {
		p.To = r.phases[len(r.phases)-1].To
	}
	return p
}

// place gives what a place said; nothing when it could not be read.
func (r record) place(p Place) insight {
	if p.Service == "productpage" {
		return r.protected.insight
	}
	return r.services[p.Service]
}

func (r *run) record(stopped bool) record {
	rec := record{
		began: r.began, phases: r.stage.phases, events: r.stage.events, broken: r.stage.broken, mended: r.stage.mended,
		stopped: stopped || r.stage.err != nil, openFor: r.OpenFor, protected: r.witnesses[0].testimony(r.pauses),
		services: map[string]insight{}, customers: r.customers.presses(), ledger: r.ledger, rate: r.Rate, speed: r.stage.speed,
	}
	for service, inside := range r.inside {
		rec.services[service] = inside.insight
	}
	if len(r.witnesses) > 1 {
		rec.naive = r.witnesses[1].testimony(r.pauses)
	}
	return rec
}
