//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// TestNoBrokenLink follows every link of every kind of page, pictures and style
// sheets included.
func TestNoBrokenLink(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	start := []*page{v.get("/"), v.get("/?q=mug"), v.get("/?category=lighting"), v.get("/?page=3"),
		v.get("/products/42"), v.get("/products/1999"), v.get("/checkout?sku=42&qty=1"),
		buy(t, v, 1013), v.get("/products/999999"), v.get("/no/such/page")}
	seen := map[string]bool{}
	for _, p := range start {
		for _, link := range p.links() {
			if seen[link] {
				continue
			}
			seen[link] = true
			if got := v.get(link); got.status != http.StatusOK {
				t.Errorf("%s links to %s, which answers %d", p.url.RequestURI(), link, got.status)
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d links found: the test does not see the pages", len(seen))
	}
}

// TestSecurityHeadersEverywhere asks for each header on every kind of answer,
// errors included: the page that explains an attack must not help it.
func TestSecurityHeadersEverywhere(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	order := buy(t, v, 1015)
	answers := map[string]*page{
		"home":      v.get("/"),
		"product":   v.get("/products/7"),
		"picture":   v.get("/pictures/7.svg"),
		"checkout":  v.get("/checkout?sku=7&qty=1"),
		"order":     order,
		"not found": v.get("/nowhere"),
		"bad id":    v.get("/products/abc"),
		"refused":   v.post("/checkout", nil),
		"method":    v.post("/products/7", nil),
	}
	for name, p := range answers {
		csp := p.header.Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, directive) {
				t.Errorf("%s: %d: Content-Security-Policy %q lacks %q", name, p.status, csp, directive)
			}
		}
		if got := p.header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", name, got)
		}
		if p.header.Get("Referrer-Policy") == "" {
			t.Errorf("%s: no Referrer-Policy", name)
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: unsafe policy %q", name, csp)
		}
	}
	for _, name := range []string{"checkout", "order"} {
		if got := answers[name].header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
			t.Errorf("%s: Cache-Control %q: a shared cache may keep a customer's page", name, got)
		}
	}
}

// TestErrorPagesAreForPeople checks that a browser gets a page in the shop's
// look and a program gets problem details, for the same request.
func TestErrorPagesAreForPeople(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	p := v.get("/products/999999")
	want(t, p, http.StatusNotFound)
	if p.root == nil || len(p.links()) == 0 {
		t.Errorf("a browser gets no way back: %s", clip(p.body))
	}
	req, _ := http.NewRequest(http.MethodGet, s.URL("productpage")+"/products/999999", nil)
	req.Header.Set("Accept", "application/json")
	p = v.do(req)
	want(t, p, http.StatusNotFound)
	if ct := p.header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("Content-Type %q", ct)
	}
}

// TestHostileNamesAreEscaped puts markup into a product's name, as a careless
// import would, waits until the shop has noticed, and looks at every page that
// shows the name; and it searches for markup, which the search box shows again.
func TestHostileNamesAreEscaped(t *testing.T) {
	s := stack(t)
	const sku, hostile = 1017, `<script>alert(1)</script>"onmouseover='x'`
	name := func(v string) {
		sql := fmt.Sprintf("UPDATE products SET name = '%s' WHERE id = %d", strings.ReplaceAll(v, "'", "''"), sku)
		if code := s.Exec(t, "postgres", "psql", "-q", "-U", "postgres", "-d", "catalogue", "-c", sql); code != 0 {
			t.Fatalf("psql exits with %d", code)
		}
	}
	v := newVisitor(t, s.URL("productpage"))
	before := pageFacts(t, s, sku).Product.Name
	name(hostile)
	t.Cleanup(func() { name(before) })
	eventuallyIn(t, time.Minute, "the shop has the new name", func() bool { return pageFacts(t, s, sku).Product.Name == hostile })

	order := buy(t, v, sku)
	for what, p := range map[string]*page{
		"product":  v.get(fmt.Sprintf("/products/%d", sku)),
		"checkout": v.get(fmt.Sprintf("/checkout?sku=%d&qty=1", sku)),
		"order":    order,
		"search":   v.get("/?q=" + url.QueryEscape(hostile)),
	} {
		want(t, p, http.StatusOK)
		if !strings.Contains(p.text(), "<script>alert(1)</script>") && what != "order" {
			t.Errorf("%s: the test does not see the name at all: %s", what, clip(p.text()))
		}
		if n := p.scripts(); n != 0 {
			t.Errorf("%s: %d elements run script", what, n)
		}
	}
}

// scripts counts elements that could run something: the shop has none.
func (p *page) scripts() (n int) {
	for node := range p.root.Descendants() {
		if node.Data == "script" && node.Type == html.ElementNode || has(node, "onmouseover") {
			n++
		}
	}
	return n
}
