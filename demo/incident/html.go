package incident

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"strings"
	"time"

	"watertight.example/demo/load"
)

//go:embed report.html
var reportPage string

// WriteHTML writes the report as one page that needs nothing else: no network, no script. Its links lead from the repository's
// reports/ to the code and the test of each promise.
func (r Report) WriteHTML(w io.Writer) error { return r.write(w, true) }

// WriteServed writes the same page for a server, from which no file of the repository can be reached: it names them.
func (r Report) WriteServed(w io.Writer) error { return r.write(w, false) }

func (r Report) write(w io.Writer, links bool) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"chart":    func(width float64) template.HTML { return drawChart(r, width) },
		"slug":     slug,
		"links":    func() bool { return links },
		"human":    func(v float64) string { return ms(time.Duration(v * float64(time.Millisecond))) },
		"unbroken": func(title string) string { return strings.ReplaceAll(title, "-", "\u2011") }, // hyphens at which no line ends
		"kind": func(k load.Kind) string {
			if k == load.Browse {
				return "home"
			}
			return string(k)
		},
	}).Parse(reportPage)
	if err != nil {
		return err
	}
	return page.Execute(w, r)
}

// WriteJSON writes the figures that the page is made of.
func (r Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }
