package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestHostileNamesAreEscaped(t *testing.T) {
	shop := start(t, map[string]string{"CATALOGUE_EVERY": "20ms"})
	b := shop.browser()
	const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}&amp;`
	shop.sql(fmt.Sprintf("UPDATE products SET name = '%[1]s', description = '%[1]s', material = '%[1]s', colour = '%[1]s', size = '%[1]s' WHERE id = 42",
		strings.ReplaceAll(evil, "'", "''")))
	until(t, "the new name", func() bool { return strings.Contains(b.get("/products/42").body, "alert(1)") })
	order := b.buy(t, "/checkout?sku=42&qty=1")
	pages := []answer{order, b.get("/products/42"), b.get("/?q=alert"), b.get("/?q=" + url.QueryEscape(evil)), b.get("/checkout?sku=42&qty=1"),
		b.get("/pictures/42.svg"), b.get("/products/11")}
	for _, a := range pages {
		if a.StatusCode != 200 {
			t.Fatalf("%s: %d", a.Request.URL, a.StatusCode)
		}
		if strings.Contains(a.body, "<script") || strings.Contains(a.body, "<img src=x") {
			t.Errorf("%s is not escaped", a.Request.URL)
		}
	}
	if !strings.Contains(order.body, html.EscapeString("<script>alert(1)</script>")) {
		t.Error("the name is not shown at all")
	}
	if a, p := b.json("/products/42"); p.Product.Name != evil || strings.Contains(a.body, "<script") {
		t.Errorf("JSON name %q", p.Product.Name)
	}
}

// Every link, picture and style sheet of every page leads somewhere.
func TestLinks(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	until(t, "best sellers", func() bool { return strings.Contains(b.get("/").body, "What others take home") })
	order := b.buy(t, "/checkout?sku=42&qty=2&sku=7")
	shop.ledger.refuse = "insufficient-stock"
	refused := b.order(t, "/checkout?sku=42&qty=3&sku=7")
	refused.want(t, http.StatusUnprocessableEntity)
	link := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	queue := []string{"/", "/?category=lighting&page=2", "/?q=nothinglikethis", "/products/42", "/checkout?sku=42&qty=2&sku=7", "/nowhere", "/problems/insufficient-stock"}
	seen := map[string]bool{}
	collect := func(from, body string) {
		for _, m := range link.FindAllStringSubmatch(body, -1) {
			target := html.UnescapeString(m[1])
			if target == "#main" || target == "#shelf" || seen[target] {
				continue
			}
			if !strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//") {
				t.Errorf("%s links to %q", from, target)
				continue
			}
			seen[target] = true
			queue = append(queue, target)
		}
	}
	collect("order", order.body)
	collect("refused", refused.body)
	for i := 0; i < len(queue) && i < 250; i++ {
		path := queue[i]
		a := b.get(path)
		if a.StatusCode != 200 && path != "/nowhere" {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
		if strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			checkPage(t, path, a.body)
			collect(path, a.body)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d links found", len(seen))
	}
}

// checkPage looks for what people with a screen reader or a keyboard would miss.
func checkPage(t *testing.T, path, body string) {
	t.Helper()
	for _, m := range regexp.MustCompile(` action="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if m[1] != "/" && m[1] != "/checkout" {
			t.Errorf("%s sends a form to %q", path, m[1])
		}
	}
	for what, n := range map[string]int{"<h1": 1, "<main ": 1, `<html lang="en">`: 1, "<title>": 1, `name="viewport"`: 1} {
		if got := strings.Count(body, what); got != n {
			t.Errorf("%s has %s %d times", path, what, got)
		}
	}
	for _, img := range regexp.MustCompile(`<img [^>]*>`).FindAllString(body, -1) {
		if !strings.Contains(img, "alt=") || !strings.Contains(img, "width=") {
			t.Errorf("%s: %s", path, img)
		}
	}
	for _, input := range regexp.MustCompile(`<input [^>]*>`).FindAllString(body, -1) {
		id := regexp.MustCompile(` id="(\w+)"`).FindStringSubmatch(input)
		labelled := strings.Contains(input, `type="hidden"`) || strings.Contains(input, `type="checkbox"`) || // inside its label
			id != nil && strings.Contains(body, `for="`+id[1]+`"`)
		if !labelled {
			t.Errorf("%s: %s has no label", path, input)
		}
	}
}

func TestEveryProblemOfTheShopIsExplained(t *testing.T) {
	explained, err := loadProblems()
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range explained {
		if e.Title == "" || e.Text == "" || e.Do == "" {
			t.Errorf("%s is not explained: %+v", name, e)
		}
	}
	sources, err := filepath.Glob("../*/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("sources: %v, %v", sources, err)
	}
	shared, _ := filepath.Glob("../../pkg/*/*.go")
	made := regexp.MustCompile(`(?:NewProblem\([^"\n]*|refuse\()"([a-z-]+)"`)
	for _, path := range append(sources, shared...) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range made.FindAllStringSubmatch(string(text), -1) {
			if _, ok := explained[m[1]]; !ok && m[1] != "client-gone" { // nobody is there to read that one
				t.Errorf("%s answers %q, which /problems/ does not explain", path, m[1])
			}
		}
	}
}
