package incident

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// played is a run of a story, whole or without one pattern, as its JSON file has it.
type played struct {
	Title    string    `json:"title"`
	Without  string    `json:"without"`
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
	Broke   []Verdict
	Stopped bool
}

// Columns gives the runs.
func (c Comparison) Columns() (list []Column) {
	for _, p := range c.runs {
		col := Column{Without: p.Without, Stopped: p.Stopped}
		for _, v := range p.Verdicts {
			if !v.ByNaive && v.Result() == Fail {
				col.Broke = append(col.Broke, v)
			}
		}
		list = append(list, col)
	}
	return list
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
