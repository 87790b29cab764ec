package incident

import (
	"fmt"
	"html/template"
	"strings"
)

// ground is the time in which something was broken, what happened when, and the seconds.
func (c *chart) ground(height float64) {
	free := 0.0 // from where there is room for the next name
	for _, p := range c.Phases {
		if p.Sick {
			fmt.Fprintf(c, `<rect class="fault" x="%.1f" y="18" width="%.1f" height="%.0f"/>`, c.x(p.From), c.x(p.To)-c.x(p.From), height-18-28)
		}
		if name := fitting(p, c.x(p.To)-c.x(p.From)); name != "" && c.x(p.From) >= free {
			fmt.Fprintf(c, `<text x="%.1f" y="12">%s</text>`, c.x(p.From), template.HTMLEscapeString(name))
			free = c.x(p.From) + nameWidth(name)
		}
	}
	last := -100.0
	for i, e := range c.Events {
		x := c.x(e.At)
		fmt.Fprintf(c, `<line class="event" x1="%.1f" x2="%.1f" y1="34" y2="%.0f"/>`, x, x, height-28)
		if x-last > 15 {
			fmt.Fprintf(c, `<text class="middle event" x="%.1f" y="30">%d</text>`, x, i+1)
			last = x
		}
	}
	step := 5.0
	for c.span/step > c.width/70 {
		step *= 2
	}
	for at := 0.0; at <= c.span; at += step {
		fmt.Fprintf(c, `<text class="middle" x="%.1f" y="%.0f">%.0f s</text>`, c.x(at), height-12, at)
	}
}

// fitting is as much of a phase's name as has room above it: all of it, or what is before its colon, for which a phase in which
// something is broken gets room beyond its end.
func fitting(p Phase, width float64) string {
	act, _, _ := strings.Cut(p.Name, ":")
	switch {
	case nameWidth(p.Name) <= width:
		return p.Name
	case nameWidth(act) <= width || p.Sick && len(act) <= len("act three"):
		return act
	}
	return ""
}

func nameWidth(name string) float64 { return 6.5 * float64(len(name)) }
