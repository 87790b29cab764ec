package incident

import (
	"fmt"
	"slices"
	"strings"
)

func (c *chart) shares(title string, share func(Second) float64) {
	top := c.panel(title, shareHeight)
	for _, percent := range []float64{0, 50, 100} {
		c.rule(shareY(top, percent/100, shareHeight), "grid", fmt.Sprintf("%.0f", percent))
	}
	for _, twin := range slices.Backward(c.Twins) {
		var line strings.Builder
		c.line(&line, twin.Series, func(s Second) float64 { return shareY(top, share(s), shareHeight) })
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

// band is the state of a breaker.
func (c *chart) band(w Watched) {
	top := c.panel("breaker of "+w.Name, bandHeight)
	if len(w.Breaker) == 0 {
		fmt.Fprintf(c, `<text x="%.0f" y="%.0f">not read</text>`, c.left, top+15)
	}
	for _, e := range w.Breaker {
		from, to := c.x(e.From), c.x(e.To)
		fmt.Fprintf(c, `<rect class="%s" x="%.1f" y="%.0f" width="%.1f" height="%.0f"/>`, e.State, from, top, max(to-from, 1), bandHeight)
		if to-from > 60 {
			fmt.Fprintf(c, `<text class="state" x="%.1f" y="%.0f">%s</text>`, from+8, top+15, strings.ReplaceAll(e.State, "_", "-"))
		}
	}
}

// limit is how many calls might be in flight; one that never changed needs no panel.
func (c *chart) limit(w Watched) {
	most, changed := 0.0, false
	for _, l := range w.Limit {
		changed = changed || l.Value != w.Limit[0].Value
		most = max(most, l.Value)
	}
	if !changed {
		return
	}
	top := c.panel("limit of "+w.Name, limitHeight)
	c.steps(top, most, w.Limit, c.Seconds)
}

// hedges are the second attempts of each second.
func (c *chart) hedges(w Watched) {
	most := 0.0
	for _, l := range w.Hedges {
		most = max(most, l.Value)
	}
	if most == 0 {
		return
	}
	top := c.panel("hedges/s of "+w.Name, limitHeight)
	c.rule(shareY(top, 0, limitHeight), "grid", "0")
	c.rule(shareY(top, 1, limitHeight), "grid", fmt.Sprintf("%.0f", most))
	for _, l := range w.Hedges {
		if l.Value > 0 {
			fmt.Fprintf(c, `<path class="line protected" d="M%.1f %.1fV%.1f"/>`, c.x(l.At), shareY(top, 0, limitHeight), shareY(top, l.Value/most, limitHeight))
		}
	}
}

// steps draws a value that stays what it is until it changes.
func (c *chart) steps(top, most float64, levels []Level, end float64) {
	for _, v := range []float64{0, most} {
		c.rule(shareY(top, v/most, limitHeight), "grid", fmt.Sprintf("%.0f", v))
	}
	var line strings.Builder
	for i, l := range levels {
		if i == 0 {
			fmt.Fprintf(&line, "M%.1f %.1f", c.x(l.At), shareY(top, l.Value/most, limitHeight))
			continue
		}
		fmt.Fprintf(&line, "H%.1fV%.1f", c.x(min(l.At, end)), shareY(top, l.Value/most, limitHeight))
	}
	fmt.Fprintf(c, `<path class="line protected" d="%s"/>`, line.String())
}
