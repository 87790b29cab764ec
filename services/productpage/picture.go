package main

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"strings"
)

// drawings holds one flat illustration per kind of product on a 400 x 400 sheet, as an SVG fragment. Colours are variables:
// $p the pattern on the main face, $a main, $d dark and $l light shade of it, $t a second accent, $b the backdrop, $w/$v wood,
// $m/$n metal, $k ink, $c paper.
//
//go:embed drawings/*.svg
var drawings embed.FS

// picture draws p: the drawing of its kind in its own colour, with a pattern and a backdrop that follow from its id, so that
// neighbours on a shelf differ. The same product always gives the same bytes. A kind without a drawing is shown as a parcel.
func picture(p Product) []byte {
	body, err := drawings.ReadFile("drawings/" + p.Kind + ".svg")
	if err != nil {
		body, _ = drawings.ReadFile("drawings/parcel.svg")
	}
	main := p.colour()
	turn := (p.ID - 1) / 12 // the place within the category
	base, decor := backdrop(main, p.ID)
	vars := strings.NewReplacer(
		"$p", "url(#p)", "$a", main.hex(), "$d", main.mix(ink, .35).hex(), "$l", main.mix(white, .55).hex(), "$t", accent(main, turn).hex(), "$b", decor,
		"$w", "#c99a6b", "$v", "#a0714a", "$m", "#c6ced4", "$n", "#8b969f", "$k", "#2b3138", "$c", "#fbf8f1")
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" role="img"><title>%s</title>`, html.EscapeString(p.Name))
	fmt.Fprintf(&out, `<defs>%s</defs><rect width="400" height="400" fill="%s"/>`, pattern(turn%patterns, main), base)
	fmt.Fprintf(&out, `<g fill="%s">%s</g>`, decor, backdropShape(p.ID%5))
	out.WriteString(`<ellipse cx="200" cy="326" rx="132" ry="13" fill="#1d2730" opacity=".16"/><g`)
	if turn%4 == 3 {
		out.WriteString(` transform="translate(400 0) scale(-1 1)"`)
	}
	out.WriteString(">")
	_, _ = vars.WriteString(&out, string(body))
	out.WriteString("</g></svg>\n")
	return out.Bytes()
}

const patterns = 7

// pattern defines the fill #p in shades of one colour.
func pattern(i int, main colour) string {
	tile := [patterns]string{
		"",
		`<path d="M0 9h40M0 29h40" stroke="%s" stroke-width="7"/>`,
		`<g fill="%s"><circle cx="10" cy="10" r="5"/><circle cx="30" cy="30" r="5"/></g>`,
		`<path d="M10 0v40M30 0v40" stroke="%s" stroke-width="5"/>`,
		`<path d="M0 20q10-14 20 0t20 0" fill="none" stroke="%s" stroke-width="5"/>`,
		`<g fill="%s"><path d="M4 6l9 3-4 8-8-4zM25 3l8 6-9 4zM17 25l9-3 2 9-8 3zM33 24l6 3-5 8-5-4zM3 31l6-4 5 6-7 5z"/></g>`,
		`<path d="M0 0h20v20H0zM20 20h20v20H20z" fill="%s" opacity=".55"/>`,
	}[i]
	if tile != "" {
		shade := main.mix(white, .45)
		if main.bright() > .62 {
			shade = main.mix(ink, .22)
		}
		tile = fmt.Sprintf(tile, shade.hex())
	}
	return fmt.Sprintf(`<pattern id="p" width="40" height="40" patternUnits="userSpaceOnUse"><rect width="40" height="40" fill="%s"/>%s</pattern>`, main.hex(), tile)
}

// backdrop picks a sheet colour and a slightly deeper one for its decoration: pale behind dark products, deeper behind pale
// ones, because cream on cream sells nothing.
func backdrop(main colour, id int) (sheet, decor string) {
	pale := [...][2]string{{"#eef2ef", "#dde7e2"}, {"#f6efe3", "#ecdfc9"}, {"#e8eef4", "#d6e1ec"}, {"#f5e9e4", "#ecd8cf"}, {"#eaf0e2", "#d9e4cb"}, {"#efeaf3", "#dfd6e8"}, {"#f7f1da", "#ede3bd"}}
	deep := [...][2]string{{"#b9cbd0", "#a6bcc3"}, {"#c4b3c6", "#b49fb7"}, {"#a9c1b0", "#95b19e"}, {"#d1a894", "#c4967f"}, {"#a5b6cf", "#91a5c2"}}
	if main.bright() > .66 {
		pick := deep[id%len(deep)]
		return pick[0], pick[1]
	}
	pick := pale[id%len(pale)]
	return pick[0], pick[1]
}

func backdropShape(i int) string {
	return [...]string{
		`<circle cx="200" cy="200" r="158"/>`,
		`<path d="M60 328V192a140 140 0 0 1 280 0v136z"/>`,
		`<path d="M0 300c70-60 130-20 200-50s130-70 200-20v170H0z"/>`,
		`<path d="M0 268h400v132H0z"/>`,
		`<path d="M62 240C32 130 120 40 220 58s150 110 118 200-110 110-170 96S84 320 62 240z"/>`,
	}[i]
}

// accent is a second colour that gets on with the first.
func accent(main colour, turn int) colour {
	choices := [...]colour{{0xd9, 0xa0, 0x33}, {0xc8, 0x62, 0x3f}, {0x2a, 0x81, 0x80}, {0x40, 0x50, 0x8f}, {0xe0, 0xa7, 0x9c}}
	pick := choices[turn%len(choices)]
	if pick == main {
		pick = choices[(turn+1)%len(choices)]
	}
	return pick
}

// colour is red, green, blue.
type colour [3]uint8

var (
	white = colour{255, 255, 255}
	ink   = colour{0x1d, 0x27, 0x30}
)

func (c colour) hex() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// mix moves c towards other, 0 <= share <= 1.
func (c colour) mix(other colour, share float64) colour {
	for i := range c {
		c[i] = uint8(float64(c[i])*(1-share) + float64(other[i])*share)
	}
	return c
}

// bright is the perceived brightness, 0 to 1.
func (c colour) bright() float64 {
	return (.299*float64(c[0]) + .587*float64(c[1]) + .114*float64(c[2])) / 255
}
