package resilience

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var plotFile = flag.String("plot", "", "write the three limits in the articles' outage to this SVG file")

// curve is a limit, second by second.
type curve struct {
	name, color string
	limits      []int
}

// simulated runs the articles' outage through each algorithm.
func simulated() []curve {
	seconds := int((over + 30*time.Second) / time.Second)
	var curves []curve
	for _, a := range []struct {
		name, color string
		make        func() LimitAlgorithm
	}{{"AIMD", "#1a7f37", AIMD}, {"Vegas", "#9a6700", Vegas}, {"Gradient2", "#cf222e", Gradient2}} {
		p := newPlant(upTo200(a.make), 120, outage(20*time.Millisecond))
		c := curve{name: a.name, color: a.color}
		for s := range seconds {
			p.open(4000, time.Duration(s)*time.Second)
			c.limits = append(c.limits, p.limiter.limit)
		}
		curves = append(curves, c)
	}
	return curves
}

// TestWhyAIMDIsTheDefault keeps the reason as a fact: in the same outage the other two do what their comments say. With -plot it
// draws it.
func TestWhyAIMDIsTheDefault(t *testing.T) {
	curves := simulated()
	at := func(c curve, sinceOnset int) int { return c.limits[int(onset.Seconds())+sinceOnset] }
	aimd, vegas, gradient2 := curves[0], curves[1], curves[2]
	if at(aimd, 599) > at(aimd, 10) {
		t.Errorf("AIMD climbed from %d to %d during the outage", at(aimd, 10), at(aimd, 599))
	}
	if at(vegas, 2) <= at(vegas, -1)/2 {
		t.Errorf("Vegas was quick: %d after two seconds. It may be the better default now", at(vegas, 2))
	}
	if at(gradient2, 599) <= 2*at(gradient2, 60) {
		t.Errorf("Gradient2 did not forget: %d at the end. It may be the better default now", at(gradient2, 599))
	}
	svg := draw(curves)
	if strings.Count(svg, "<polyline") != 3 {
		t.Error("not three curves")
	}
	if *plotFile != "" {
		if err := os.WriteFile(*plotFile, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func draw(curves []curve) string {
	const width, height, left, top = 900.0, 360.0, 50.0, 30.0
	seconds := len(curves[0].limits)
	x := func(s float64) float64 { return left + s/float64(seconds)*(width-left-20) }
	y := func(limit float64) float64 { return top + (1-limit/210)*(height-top-40) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`, width, height)
	fmt.Fprintf(&b, "\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n")
	fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#ffebe9"/>`+"\n",
		x(onset.Seconds()), y(210), x(over.Seconds())-x(onset.Seconds()), y(0)-y(210))
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="#82071e">20 ms have become 400 ms</text>`+"\n", x(onset.Seconds())+6, y(160))
	for limit := 0; limit <= 200; limit += 50 {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#d0d7de"/><text x="%.1f" y="%.1f" text-anchor="end">%d</text>`+"\n",
			left, width-20, y(float64(limit)), y(float64(limit)), left-6, y(float64(limit))+4, limit)
	}
	for s := 0; s <= seconds; s += 60 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%d min</text>`+"\n", x(float64(s)), y(0)+18, s/60)
	}
	for i, c := range curves {
		var points strings.Builder
		for s, limit := range c.limits {
			fmt.Fprintf(&points, "%.1f,%.1f ", x(float64(s)), y(float64(limit)))
		}
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", c.color, points.String())
		fmt.Fprintf(&b, `<text x="%.1f" y="18" fill="%s">%s</text>`+"\n", left+float64(i)*180, c.color, c.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
