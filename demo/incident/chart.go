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
}

// The panels, from top to bottom.
const (
	latencyTop, latencyHeight = 48.0, 220.0
	failedTop, shareHeight    = 308.0, 62.0
	degradedTop               = 408.0
	breakerTop, bandHeight    = 508.0, 22.0
	chartHeight               = 562.0
)

func drawChart(r Report, width float64) template.HTML {
	c := &chart{Report: r, width: width, left: 46, right: 10, span: max(r.Seconds, 1)}
	fmt.Fprintf(c, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, width, chartHeight, template.HTMLEscapeString(c.describe()))
	c.ground()
	c.latencies()
	c.shares(failedTop, "failed pages, %", func(s Second) float64 { return float64(s.Failed) / float64(s.Answers) })
	c.shares(degradedTop, "degraded pages, %", func(s Second) float64 { return float64(s.Degraded) / float64(s.Answers) })
	c.band()
	c.WriteString("</svg>")
	return template.HTML(c.String())
}

func (c *chart) describe() string {
	text := "Latency, failed and degraded product pages over time."
	for _, twin := range c.Twins {
		for _, r := range twin.Routes {
			if r.Phase == fault && r.Kind == load.Product {
				text += fmt.Sprintf(" In the fault the %s page had a p95 of %.0f ms; of %d pages %d were degraded and %d failed.",
					twin.Name, r.P95, r.Answers, r.Degraded, r.Failed)
			}
		}
	}
	return text
}

func (c *chart) x(second float64) float64 {
	return c.left + math.Min(math.Max(second/c.span, 0), 1)*(c.width-c.left-c.right)
}

// latencyY is logarithmic, from 2 ms to the visitors' patience: 30 ms and 10 s have to fit on one scale.
func latencyY(ms float64) float64 {
	const low = 2.0
	high := float64(patience.Milliseconds())
	share := math.Log(math.Min(math.Max(ms, low), high)/low) / math.Log(high/low)
	return latencyTop + (1-share)*latencyHeight
}

func shareY(top, share float64) float64 { return top + (1-share)*shareHeight }

// ground is the time of the fault, and the seconds.
func (c *chart) ground() {
	for _, p := range c.Phases {
		if p.Name == fault {
			fmt.Fprintf(c, `<rect class="fault" x="%.1f" y="18" width="%.1f" height="%.0f"/>`, c.x(p.From), c.x(p.To)-c.x(p.From), breakerTop+bandHeight-18)
		}
		if c.x(p.To)-c.x(p.From) > 8*float64(len(p.Name)) || p.Name == fault {
			fmt.Fprintf(c, `<text x="%.1f" y="12">%s</text>`, c.x(p.From), p.Name)
		}
	}
	step := 5.0
	for c.span/step > c.width/70 {
		step *= 2
	}
	for at := 0.0; at <= c.span; at += step {
		fmt.Fprintf(c, `<text class="middle" x="%.1f" y="%.0f">%.0f s</text>`, c.x(at), chartHeight-12, at)
	}
}

func (c *chart) rule(y float64, class, label string) {
	fmt.Fprintf(c, `<line class="%s" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text class="end" x="%.0f" y="%.1f">%s</text>`,
		class, c.left, c.width-c.right, y, y, c.left-5, y+4, label)
}

func (c *chart) latencies() {
	fmt.Fprintf(c, `<text class="title" x="%.0f" y="%.0f">p95, and every page</text>`, c.left, latencyTop-8)
	for ms, label := range map[float64]string{10: "10 ms", 100: "100 ms", 1000: "1 s", 10000: "10 s"} {
		c.rule(latencyY(ms), "grid", label)
	}
	c.rule(latencyY(500), "budget", "500 ms")
	for _, twin := range slices.Backward(c.Twins) { // the protected one on top
		var dots, line strings.Builder
		for _, d := range twin.Pages {
			fmt.Fprintf(&dots, "M%.1f %.1fh0", c.x(d.At), latencyY(d.MS))
		}
		c.line(&line, twin.Series, func(s Second) float64 { return latencyY(s.P95) })
		fmt.Fprintf(c, `<path class="dots %s" d="%s"/><path class="line %s" d="%s"/>`, twin.Name, dots.String(), twin.Name, line.String())
	}
}

func (c *chart) shares(top float64, title string, share func(Second) float64) {
	fmt.Fprintf(c, `<text class="title" x="%.0f" y="%.0f">%s</text>`, c.left, top-8, title)
	for _, percent := range []float64{0, 50, 100} {
		c.rule(shareY(top, percent/100), "grid", fmt.Sprintf("%.0f", percent))
	}
	for _, twin := range slices.Backward(c.Twins) {
		var line strings.Builder
		c.line(&line, twin.Series, func(s Second) float64 { return shareY(top, share(s)) })
		fmt.Fprintf(c, `<path class="line %s" d="%s"/>`, twin.Name, line.String())
	}
}

// line joins the seconds of a series, at their middles; a second without a page is a gap.
func (c *chart) line(w *strings.Builder, series []Second, y func(Second) float64) {
	for i, s := range series {
		verb := "L"
		if i == 0 || s.At != series[i-1].At+1 {
			verb = "M"
		}
		fmt.Fprintf(w, "%s%.1f %.1f", verb, c.x(float64(s.At)+0.5), y(s))
	}
}

// band is the state of the breaker.
func (c *chart) band() {
	fmt.Fprintf(c, `<text class="title" x="%.0f" y="%.0f">breaker in front of recommendations</text>`, c.left, breakerTop-8)
	if len(c.Breaker) == 0 {
		fmt.Fprintf(c, `<text x="%.0f" y="%.0f">not read</text>`, c.left, breakerTop+15)
	}
	for _, e := range c.Breaker {
		from, to := c.x(e.From), c.x(e.To)
		fmt.Fprintf(c, `<rect class="%s" x="%.1f" y="%.0f" width="%.1f" height="%.0f"/>`, e.State, from, breakerTop, max(to-from, 1), bandHeight)
		if to-from > 60 {
			fmt.Fprintf(c, `<text class="state" x="%.1f" y="%.0f">%s</text>`, from+8, breakerTop+15, strings.ReplaceAll(e.State, "_", "-"))
		}
	}
}
