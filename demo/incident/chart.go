package incident

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"watertight.example/demo/load"
)

// chart draws a report as SVG. Text in an SVG shrinks with it, so the page holds a wide and a narrow chart and shows the one that
// fits; colours are CSS variables of the page, so that both its schemes fit too.
type chart struct {
	Report
	strings.Builder
	width, left, right float64
	span               float64 // seconds from left to right
	y                  float64 // where the next panel begins
}

// The heights of panels, and of what is above and between them.
const (
	headHeight    = 40.0
	latencyHeight = 220.0
	shareHeight   = 62.0
	limitHeight   = 46.0
	bandHeight    = 22.0
	gap           = 38.0
)

func drawChart(r Report, width float64) template.HTML {
	c := &chart{Report: r, width: width, left: 54, right: 10, span: max(r.Seconds, 1), y: headHeight}
	c.latencies()
	c.shares("failed pages, %", func(s Second) float64 { return float64(s.Failed) / float64(s.Answers) })
	c.shares("degraded pages, %", func(s Second) float64 { return float64(s.Degraded) / float64(s.Answers) })
	for _, w := range c.Watched {
		c.band(w)
		c.limit(w)
		c.hedges(w)
	}
	panels := c.String()
	c.Reset()
	height := c.y + 8
	fmt.Fprintf(c, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, width, height, template.HTMLEscapeString(c.describe()))
	c.ground(height)
	c.WriteString(panels)
	c.WriteString("</svg>")
	return template.HTML(c.String())
}

func (c *chart) describe() string {
	text := "Latency, failed and degraded product pages over time."
	for _, twin := range c.Twins {
		if r := c.InSickness(twin); r != nil {
			text += fmt.Sprintf(" While something was broken the %s page had a p95 of %.0f ms; of %d pages %d were degraded and %d failed.",
				twin.Name, r.P95, r.Answers, r.Degraded, r.Failed)
		}
	}
	return text
}

// panel writes a title and gives the top of what is below it.
func (c *chart) panel(title string, height float64) (top float64) {
	top = c.y + 14
	fmt.Fprintf(c, `<text class="title" x="%.0f" y="%.0f">%s</text>`, c.left, top-8, template.HTMLEscapeString(title))
	c.y = top + height + gap - 14
	return top
}

func (c *chart) x(second float64) float64 {
	return c.left + math.Min(math.Max(second/c.span, 0), 1)*(c.width-c.left-c.right)
}

// latencyY is logarithmic, from 2 ms to the visitors' patience: 30 ms and 10 s have to fit on one scale.
func latencyY(top, ms float64) float64 {
	const low = 2.0
	high := float64(patience.Milliseconds())
	share := math.Log(math.Min(math.Max(ms, low), high)/low) / math.Log(high/low)
	return top + (1-share)*latencyHeight
}

func shareY(top, share, height float64) float64 { return top + (1-share)*height }

func (c *chart) rule(y float64, class, label string) {
	fmt.Fprintf(c, `<line class="%s" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text class="end" x="%.0f" y="%.1f">%s</text>`,
		class, c.left, c.width-c.right, y, y, c.left-5, y+4, label)
}

func (c *chart) latencies() {
	top := c.panel("p50 and p99 of product pages, and every page", latencyHeight)
	for _, grid := range []struct {
		ms    float64
		label string
	}{{10, "10 ms"}, {100, "100 ms"}, {1000, "1 s"}, {10000, "10 s"}} {
		c.rule(latencyY(top, grid.ms), "grid", grid.label)
	}
	c.rule(latencyY(top, 500), "budget", "500 ms")
	for _, twin := range slices.Backward(c.Twins) { // the protected one on top
		var dots, middle, line strings.Builder
		for _, d := range twin.Pages {
			fmt.Fprintf(&dots, "M%.1f %.1fh0", c.x(d.At), latencyY(top, d.MS))
		}
		c.line(&middle, twin.Series, func(s Second) float64 { return latencyY(top, s.P50) })
		c.line(&line, twin.Series, func(s Second) float64 { return latencyY(top, s.P99) })
		fmt.Fprintf(c, `<path class="dots %s" d="%s"/><path class="line p50 %s" d="%s"/><path class="line %s" d="%s"/>`,
			twin.Name, dots.String(), twin.Name, middle.String(), twin.Name, line.String())
	}
}

// InSickness gives what visitors saw of a page's product pages while anything was broken; nil when nothing ever was.
func (r Report) InSickness(s Seen) *Route {
	var all *Route
	for _, p := range r.Phases {
		for _, route := range s.Routes {
			if p.Sick && route.Phase == p.Name && route.Kind == load.Product && route.Answers > 0 {
				all = all.plus(route)
			}
		}
	}
	return all
}
