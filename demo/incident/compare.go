package incident

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

// played is a run of a story, whole or without one pattern, as its JSON file has it.
type played struct {
	Title    string    `json:"title"`
	Without  string    `json:"without"`
	Began    time.Time `json:"began"`
	Speed    float64   `json:"speed"` // 0: not said
	Stopped  bool      `json:"stopped_early"`
	Verdicts []Verdict `json:"verdicts"`
}

// Comparison sets runs of one story side by side: the whole shop first, then one without each pattern.
type Comparison struct {
	Title string
	runs  []played
}

// Compare reads the JSON files of several runs.
func Compare(files ...[]byte) (Comparison, error) {
	var c Comparison
	for _, f := range files {
		var p played
		if err := json.Unmarshal(f, &p); err != nil {
			return c, fmt.Errorf("not a report: %w", err)
		}
		c.Title = p.Title
		c.runs = append(c.runs, p)
	}
	slices.SortStableFunc(c.runs, func(a, b played) int { return strings.Compare(a.Without, b.Without) })
	return c, nil
}

// Column is one run, and in a sentence what broke in it.
type Column struct {
	Without string
	When    string // and how fast
	Broke   []Verdict
	Stopped bool
}

// Columns gives the runs.
func (c Comparison) Columns() (list []Column) {
	for _, p := range c.runs {
		col := Column{Without: p.Without, When: p.when(), Stopped: p.Stopped}
		for _, v := range p.Verdicts {
			if !v.ByNaive && v.Result() == Fail {
				col.Broke = append(col.Broke, v)
			}
		}
		list = append(list, col)
	}
	return list
}

func (p played) when() string {
	speed := "at an unknown speed"
	if p.Speed > 0 {
		speed = fmt.Sprintf("at speed %g", p.Speed)
	}
	return p.Began.UTC().Format("2 January 2006, 15:04 UTC, ") + speed
}

// oneSeries is how far apart the first and the last run of a series begin, also at speed 1. What is further apart may be of two shops.
const oneSeries = 6 * time.Hour

// Caveat says why the runs cannot simply be compared: a directory keeps reports of other days and other speeds. Empty if they can.
func (c Comparison) Caveat() string {
	var odd []string
	if slices.ContainsFunc(c.runs, func(p played) bool { return p.Speed != c.runs[0].Speed }) {
		odd = append(odd, "were not all played at the same speed")
	}
	byTime := func(a, b played) int { return a.Began.Compare(b.Began) }
	if len(c.runs) > 0 && slices.MaxFunc(c.runs, byTime).Began.Sub(slices.MinFunc(c.runs, byTime).Began) > oneSeries {
		odd = append(odd, "are not of one day")
	}
	if len(odd) == 0 {
		return ""
	}
	return "These runs " + strings.Join(odd, " and ") + "; what differs may not be for want of a pattern."
}

// Row is one promise, and what was measured of it in each run.
type Row struct {
	Promise, Bound string
	Found          []Finding
}

// Rows gives the promises of the first run.
func (c Comparison) Rows() (list []Row) {
	if len(c.runs) == 0 {
		return nil
	}
	for _, v := range c.runs[0].Verdicts {
		if v.ByNaive {
			continue
		}
		row := Row{Promise: v.Promise, Bound: v.Bound}
		for _, p := range c.runs {
			var found Finding
			if i := slices.IndexFunc(p.Verdicts, func(o Verdict) bool { return o.ID == v.ID }); i >= 0 {
				found = p.Verdicts[i].Protected
			}
			row.Found = append(row.Found, found)
		}
		list = append(list, row)
	}
	return list
}

//go:embed compare.html
var comparePage string

// WriteHTML writes the comparison as one page that needs nothing else.
func (c Comparison) WriteHTML(w io.Writer) error {
	page, err := template.New("compare").Funcs(template.FuncMap{"slug": slug}).Parse(comparePage)
	if err != nil {
		return err
	}
	return page.Execute(w, c)
}

func slug(v Result) string { return strings.ReplaceAll(strings.ToLower(string(v)), " ", "-") }
