//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// page is one answer, read whole and parsed.
type page struct {
	status int
	url    *url.URL // after redirects
	header http.Header
	body   string
	root   *html.Node
}

// form finds the form with that action and returns its method, action and the
// values a browser would send without touching anything.
func (p *page) form(t testing.TB, action string) (method, target string, values url.Values) {
	t.Helper()
	for n := range p.elements("form") {
		if u, err := url.Parse(attr(n, "action")); err != nil || u.Path != action {
			continue
		}
		method = strings.ToUpper(attr(n, "method"))
		if method == "" {
			method = http.MethodGet
		}
		return method, action, formValues(n)
	}
	t.Fatalf("%s has no form for %s:\n%s", p.url, action, clip(p.body))
	return "", "", nil
}

func formValues(form *html.Node) url.Values {
	values := url.Values{}
	for n := range form.Descendants() {
		name := attr(n, "name")
		if n.Type != html.ElementNode || name == "" {
			continue
		}
		switch n.Data {
		case "input":
			switch attr(n, "type") {
			case "checkbox", "radio":
				if has(n, "checked") {
					values.Add(name, attr(n, "value"))
				}
			case "submit", "button":
			default:
				values.Add(name, attr(n, "value"))
			}
		case "select":
			values.Add(name, selected(n))
		}
	}
	return values
}

func selected(sel *html.Node) (value string) {
	first := true
	for n := range sel.Descendants() {
		if n.Type == html.ElementNode && n.Data == "option" && (first || has(n, "selected")) {
			value, first = attr(n, "value"), false
		}
	}
	return value
}

// elements yields every element of that name.
func (p *page) elements(name string) func(yield func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		if p.root == nil {
			return
		}
		for n := range p.root.Descendants() {
			if n.Type == html.ElementNode && n.Data == name && !yield(n) {
				return
			}
		}
	}
}

// links returns every address the page makes a browser fetch or offers to follow.
func (p *page) links() (paths []string) {
	for element, attribute := range map[string]string{"a": "href", "img": "src", "link": "href"} {
		for n := range p.elements(element) {
			target := attr(n, attribute)
			ref, err := p.url.Parse(target)
			if err == nil && ref.Host == p.url.Host && !strings.HasPrefix(target, "#") {
				paths = append(paths, ref.RequestURI())
			}
		}
	}
	return paths
}

// text is what a reader sees, white space folded.
func (p *page) text() string {
	var b strings.Builder
	if p.root == nil {
		return p.body
	}
	for n := range p.root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" {
			b.WriteString(n.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func clip(s string) string {
	if len(s) > 1500 {
		return s[:1500] + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}
