package incident

import (
	"fmt"
	"time"

	"watertight.example/demo/load"
)

// Result is what a promise came to.
type Result string

// The results. NotMeasured is neither kept nor broken: an internal listener could not be reached, or the incident was
// stopped too early.
const (
	Pass        Result = "pass"
	Fail        Result = "FAIL"
	NotMeasured Result = "not measured"
)

// Finding is a measured value, and whether it is within the bound.
type Finding struct {
	Measured string `json:"measured,omitempty"`
	Result   Result `json:"result,omitempty"` // empty: the promise is not about this page
}

// String is what was measured and what that came to. What was not measured says why, and nothing else.
func (f Finding) String() string {
	if f.Result == Pass || f.Result == Fail {
		return f.Measured + " " + string(f.Result)
	}
	return f.Measured
}

// Verdict is one promise, held against both pages. Only one of the two has promised it: that the naive page breaks what
// the protected one promises is the lesson, and no failure of the incident.
type Verdict struct {
	ID        string  `json:"id"`
	Promise   string  `json:"promise"`
	Bound     string  `json:"bound"`
	Protected Finding `json:"protected"`
	Naive     Finding `json:"naive"`
	Code      string  `json:"code,omitempty"` // where it is kept: a file of the repository
	Test      string  `json:"test,omitempty"` // where it is tested
	ByNaive   bool    `json:"by_naive"`       // the naive page's: it has to collapse, or the incident has shown nothing
}

// Result is the finding about the page that has promised it.
func (v Verdict) Result() Result {
	if v.ByNaive {
		return v.Naive.Result
	}
	return v.Protected.Result
}

// found makes a finding of a measurement.
func found(ok bool, format string, args ...any) Finding {
	f := Finding{fmt.Sprintf(format, args...), Fail}
	if ok {
		f.Result = Pass
	}
	return f
}

// notRead is why a promise that only the page itself can witness is not judged.
const notRead = "internal listener not read"

// unknown says why there is no measurement.
func unknown(why string) Finding { return Finding{why, NotMeasured} }

// orTooEarly is for what needs the whole story: when it was stopped, a failure proves nothing.
func (r record) orTooEarly(f Finding) Finding {
	if r.stopped && f.Result == Fail {
		return unknown("stopped too early")
	}
	return f
}

// promise is the protected page's; the naive one, if it was looked at, is measured by the same measure.
func (r record) promise(id, promise, bound string, measure func(*seen) Finding) Verdict {
	v := Verdict{ID: id, Promise: promise, Bound: bound, Protected: measure(r.protected)}
	if r.naive != nil {
		v.Naive = measure(r.naive)
	}
	return v
}

// inside is a promise whose measure is to be had from a page's internal listener only, which few can ask of the naive
// twin: there its cell stays empty.
func (r record) inside(id, promise, bound string, measure func(*seen) Finding) Verdict {
	v := Verdict{ID: id, Promise: promise, Bound: bound, Protected: unknown(notRead)}
	if len(r.protected.scrapes) > 0 {
		v.Protected = measure(r.protected)
	}
	if r.naive != nil && len(r.naive.scrapes) > 0 {
		v.Naive = measure(r.naive)
	}
	return v
}

// none holds when no sample is bad.
func none(all samples, bad func(load.Sample) bool) Finding {
	if len(all) == 0 {
		return unknown("no answers")
	}
	n := all.count(bad)
	return found(n == 0, "%d of %d", n, len(all))
}

// enough answers for a p95: of fewer than 20 it is the slowest one, which proves nothing.
const enough = 20

// steady holds when the p95 of now is within the relative bound of before.
func steady(before, now samples) Finding {
	if n := min(len(before), len(now)); n < enough {
		return unknown(fmt.Sprintf("only %d answers", n))
	}
	return found(now.p95() <= relative(before.p95()), "p95 %s, was %s", ms(now.p95()), ms(before.p95()))
}

// bound is the relative bound of samples, in figures.
func (s samples) bound() string {
	if len(s) == 0 {
		return "usual p95"
	}
	return "p95 ≤ " + ms(relative(s.p95()))
}

// ms writes a duration the way people read it: 31 ms, 4.83 s.
func ms(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
