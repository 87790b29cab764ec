//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// visitor is a customer with a browser: it keeps cookies, follows redirects,
// and fills in forms by what the page really contains, so a test breaks when
// the page does.
type visitor struct {
	t      testing.TB
	base   string
	client *http.Client
}

func newVisitor(t testing.TB, base string) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, base: base, client: &http.Client{Jar: jar, Timeout: 15 * time.Second}}
}

// page is one answer, read whole and parsed.
type page struct {
	status int
	url    *url.URL // after redirects
	header http.Header
	body   string
	root   *html.Node
}

func (v *visitor) get(path string) *page {
	v.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, v.base+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.do(req)
}

func (v *visitor) post(path string, form url.Values) *page {
	v.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", v.base)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return v.do(req)
}

func (v *visitor) do(req *http.Request) *page {
	v.t.Helper()
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatalf("%s %s: reading the answer: %v", req.Method, req.URL, err)
	}
	p := &page{status: resp.StatusCode, url: resp.Request.URL, header: resp.Header, body: string(body)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		if p.root, err = html.Parse(bytes.NewReader(body)); err != nil {
			v.t.Fatalf("%s: not HTML: %v", req.URL, err)
		}
	}
	return p
}

// submit sends the page's form whose action has the given path, with the values
// it shows; change overrides some of them, as a customer would.
func (v *visitor) submit(p *page, action string, change url.Values) *page {
	v.t.Helper()
	method, target, values := p.form(v.t, action)
	for name, vv := range change {
		values[name] = vv
	}
	if method == http.MethodPost {
		return v.post(target, values)
	}
	return v.get(target + "?" + values.Encode())
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
