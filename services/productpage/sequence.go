package main

import (
	"fmt"
	"html"
	"strings"
)

// sequence is a diagram of who says what to whom, in the order of time, downwards. One source for the shop's own page and for the
// documentation, whose pictures a test compares with it.
type sequence struct {
	Name  string // of its picture
	Title string
	Lead  string // what happens, in a sentence or two
	Steps []step
}

// step is one line of a sequence. A note or a death has one end.
type step struct {
	kind     stepKind
	from, to actor
	text     string
}

type stepKind int

const (
	asks    stepKind = iota
	answers          // drawn with a dashed line
	notes            // beside from's line
	dies             // from's line ends here, until it notes or says something again
)

type actor int

const (
	customer actor = iota
	productPage
	ordersOne
	ordersTwo // another instance
	ordersDB
	pricingService
	inventoryService
	recsService
)

var actorNames = [...]string{"customer", "productpage", "orders", "orders, another", "orders' Postgres", "pricing", "inventory", "recommendations"}

// Measures of the picture, in its own units. A label of 6.2 units a letter must fit between two lines.
const (
	columnWidth = 148
	rowHeight   = 34
	headHeight  = 52
)

// Colours that do on a page of either scheme, because the picture brings its own paper.
const (
	paper, pencil, faint, strong, alarm = "#fdfcf9", "#1d2730", "#8b969d", "#0c5469", "#a12c22"
)

// SVG draws the sequence.
func (q sequence) SVG() []byte {
	column := q.columns()
	width, height := q.Width(), q.Height()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="12" role="img">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(q.Title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="10" fill="%s"/>`+"\n", width, height, paper)
	for who := range actorNames {
		if x, there := column[actor(who)]; there {
			fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-dasharray="2 4"/>`+"\n", x, headHeight-10, x, height-14, faint)
			text(&b, x, 28, pencil, `font-weight="600"`, actorNames[who])
		}
	}
	for i, s := range q.Steps {
		s.draw(&b, column, headHeight+i*rowHeight+rowHeight/2)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// Width of the picture in its own units, which are a browser's pixels.
func (q sequence) Width() int { return len(q.columns()) * columnWidth }

// Height as Width.
func (q sequence) Height() int { return headHeight + (len(q.Steps)+1)*rowHeight }

// columns gives every actor that takes part a place, in the order of the constants.
func (q sequence) columns() map[actor]int {
	column := map[actor]int{}
	for who := range actorNames {
		for _, s := range q.Steps {
			if _, there := column[actor(who)]; !there && (s.from == actor(who) || s.to == actor(who)) {
				column[actor(who)] = len(column)*columnWidth + columnWidth/2
			}
		}
	}
	return column
}

func (s step) draw(b *strings.Builder, column map[actor]int, y int) {
	from, to := column[s.from], column[s.to]
	switch s.kind {
	case notes:
		text(b, from, y+4, strong, `font-style="italic"`, s.text)
	case dies:
		fmt.Fprintf(b, `<path d="M%d %dl12 12m0 -12l-12 12" stroke="%s" stroke-width="3"/>`+"\n", from-6, y-6, alarm)
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", from+14, y+4, alarm, html.EscapeString(s.text))
	default:
		dash, head := "", 7
		if s.kind == answers {
			dash = ` stroke-dasharray="5 4"`
		}
		if to < from {
			head = -7
		}
		fmt.Fprintf(b, `<path d="M%d %dH%d" stroke="%s" stroke-width="1.4"%s/>`+"\n", from, y+4, to-head, pencil, dash)
		fmt.Fprintf(b, `<path d="M%d %dl%d -4v8z" fill="%s"/>`+"\n", to, y+4, -head, pencil)
		// Beside its arrow's head and not in the middle: a long arrow crosses others' lines, and its label would too.
		text(b, to-(to-from)/abs(to-from)*columnWidth/2, y-1, pencil, "", s.text)
	}
}

// text writes a centred line with paper behind it, so that no line runs through letters.
func text(b *strings.Builder, x, y int, colour, attributes, words string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s" text-anchor="middle" stroke="%s" stroke-width="4" paint-order="stroke" %s>%s</text>`+"\n",
		x, y, colour, paper, attributes, html.EscapeString(words))
}

func abs(n int) int { return max(n, -n) }

// Words is the sequence for people who do not see it.
func (q sequence) Words() string {
	lines := make([]string, len(q.Steps))
	for i, s := range q.Steps {
		switch who := actorNames[s.from]; s.kind {
		case asks:
			lines[i] = who + " to " + actorNames[s.to] + ": " + s.text
		case answers:
			lines[i] = who + " answers " + actorNames[s.to] + ": " + s.text
		default:
			lines[i] = who + ": " + s.text
		}
	}
	return strings.Join(lines, "; ") + "."
}
