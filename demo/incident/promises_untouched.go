package incident

import (
	"time"

	"watertight.example/demo/load"
)

// What a fault has nothing to do with has to be as it was before.

// unrelated is a kind of page that a fault has nothing to do with, in sick as a whole and in each of acts.
func (r record) unrelated(id, promise string, kind load.Kind, base, sick phase, acts ...phase) Verdict {
	before := r.protected.fair().of(kind).in(base)
	return r.promise(id, promise, before.bound()+", none fails", func(s *seen) Finding {
		pages, all := s.fair().of(kind), s.of(kind).in(sick)
		f := steadyIn(pages, base, sick, acts)
		if n := all.count(failed); n > 0 {
			return found(false, "%s, %d of %d failed", f.Measured, n, len(all))
		}
		return f
	})
}

// steadyIn judges the worst of the acts, and the incident as a whole if that is worse: the calm between two acts must not hide a
// short one. An act in which too few came for a p95 that is not one or two of them counts in the whole only.
func steadyIn(pages samples, base, incident phase, acts []phase) Finding {
	worst, where := pages.in(incident), ""
	for _, p := range acts {
		if now := pages.in(p); len(now) >= seenEnough && now.p95() > worst.p95() {
			worst, where = now, " in "+p.Name
		}
	}
	f := steady(pages.in(base), worst)
	f.Measured += where
	return f
}

// callTime is about a part of the page that is well, in sick as a whole and in each of acts: the page's own calls to it take their
// usual time.
func (r record) callTime(id, promise, dependency string, base, sick phase, acts ...phase) Verdict {
	bound := "usual p95"
	if p95, calls := r.protected.calls(dependency, base); calls > 0 {
		bound = "p95 ≤ " + ms(relative(p95))
	}
	return r.inside(id, promise, bound, func(s *seen) Finding {
		before, callsBefore := s.calls(dependency, base)
		now, calls := s.calls(dependency, sick)
		if callsBefore == 0 || calls == 0 {
			return unknown("no calls seen")
		}
		where := ""
		for _, p := range acts {
			if p95, calls := s.calls(dependency, p); calls >= seenEnough && p95 > now {
				now, where = p95, " in "+p.Name
			}
		}
		return found(now <= relative(before), "p95 %s%s, was %s", ms(now), where, ms(before))
	})
}

func (s insight) calls(dependency string, p phase) (p95 time.Duration, calls float64) {
	first, last, ok := s.edges(p)
	if !ok {
		return 0, 0
	}
	return histogramP95(first, last, dependency)
}
