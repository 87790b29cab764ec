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

// WriteHTML writes the report as one page that needs nothing else: no network, no script.
func (r Report) WriteHTML(w io.Writer) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"chart": func(width float64) template.HTML { return drawChart(r, width) },
		"slug":  func(v Result) string { return strings.ReplaceAll(strings.ToLower(string(v)), " ", "-") },
		"human": func(v float64) string { return ms(time.Duration(v * float64(time.Millisecond))) },
		"kind": func(k load.Kind) string {
			return map[load.Kind]string{load.Product: "product", load.Browse: "home", load.Order: "order"}[k]
		},
	}).Parse(reportPage)
	if err != nil {
		return err
	}
	return page.Execute(w, r)
}

// WriteJSON writes the figures that the page is made of.
func (r Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// InFault gives what visitors saw of a page's product pages while the fault lasted; nil when there was none.
func (s Seen) InFault() *Route {
	for i, route := range s.Routes {
		if route.Phase == fault && route.Kind == load.Product && route.Answers > 0 {
			return &s.Routes[i]
		}
	}
	return nil
}
