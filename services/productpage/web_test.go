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

	"github.com/google/uuid"
)

const wantCSP = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func TestHeadersOfEveryRoute(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	order := b.buy(t, "/checkout?sku=42&qty=1")
	css := regexp.MustCompile(`/static/shop\.css\?v=\w+`).FindString(b.get("/").body)
	for _, tc := range []struct {
		path, contentType, cache string
		status                   int
	}{
		{"/", "text/html; charset=utf-8", "no-cache", 200},
		{"/?q=mug", "text/html; charset=utf-8", "no-cache", 200},
		{"/products/42", "text/html; charset=utf-8", "no-cache", 200},
		{"/checkout?sku=42&qty=1&key=" + uuid.NewString(), "text/html; charset=utf-8", "no-store", 200},
		{"/checkout?sku=42&qty=1", "text/html; charset=utf-8", "no-store", 303},
		{order.Request.URL.Path, "text/html; charset=utf-8", "no-store", 200},
		{"/problems/quote-expired", "text/html; charset=utf-8", "public, max-age=3600", 200},
		{"/pictures/42.svg", "image/svg+xml", "public, max-age=86400", 200},
		{css, "text/css; charset=utf-8", "public, max-age=31536000, immutable", 200},
		{"/static/shop.css", "text/css; charset=utf-8", "public, max-age=300", 200},
		{"/static/drop.svg", "image/svg+xml", "public, max-age=300", 200},
		{"/products/999999", "text/html; charset=utf-8", "no-store", 404},
		{"/orders/" + uuid.NewString(), "text/html; charset=utf-8", "no-store", 404},
		{"/checkout/" + uuid.NewString(), "text/html; charset=utf-8", "no-store", 404},
		{"/nowhere", "text/html; charset=utf-8", "no-store", 404},
		{"/?page=x", "text/html; charset=utf-8", "no-store", 400},
		{"/healthz", "", "", 200},
	} {
		a := b.once().get(tc.path)
		a.want(t, tc.status)
		want := map[string]string{
			"Content-Security-Policy": wantCSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Content-Type": tc.contentType, "Cache-Control": tc.cache,
		}
		if tc.path == "/healthz" {
			delete(want, "Content-Type")
			delete(want, "Cache-Control")
		}
		for name, value := range want {
			if got := a.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", tc.path, name, got, value)
			}
		}
		if strings.Contains(a.body, "<script") || regexp.MustCompile(`\son\w+=|style=`).MatchString(a.body) {
			t.Errorf("%s has a script or an inline style, which its own policy forbids", tc.path)
		}
	}
}

func TestConditionalGet(t *testing.T) {
	shop := start(t, nil)
	for _, path := range []string{"/pictures/42.svg", "/static/shop.css", "/static/drop.svg"} {
		first := shop.browser().get(path)
		etag := first.Header.Get("ETag")
		if etag == "" {
			t.Fatalf("%s has no ETag", path)
		}
		req, _ := http.NewRequest(http.MethodGet, shop.url+path, nil)
		req.Header.Set("If-None-Match", etag)
		if a := shop.browser().do(req); a.StatusCode != http.StatusNotModified || a.body != "" {
			t.Errorf("%s: %d with %d bytes, want 304 and none", path, a.StatusCode, len(a.body))
		}
		req.Header.Set("If-None-Match", `"other"`)
		if a := shop.browser().do(req); a.StatusCode != http.StatusOK || a.body != first.body {
			t.Errorf("%s: %d for another ETag", path, a.StatusCode)
		}
	}
}

func TestAcceptDecidesBetweenHTMLAndJSON(t *testing.T) {
	shop := start(t, nil)
	for accept, want := range map[string]string{
		"":                 "text/html; charset=utf-8",
		"*/*":              "text/html; charset=utf-8",
		"text/html":        "text/html; charset=utf-8",
		"application/json": "application/json",
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "text/html; charset=utf-8",
		"application/json;q=0.9, text/html;q=0.1":                         "application/json",
		"garbage;;;": "text/html; charset=utf-8",
	} {
		req, _ := http.NewRequest(http.MethodGet, shop.url+"/products/42", nil)
		req.Header.Set("Accept", accept)
		a := shop.browser().do(req)
		if got := a.Header.Get("Content-Type"); a.StatusCode != 200 || got != want {
			t.Errorf("Accept %q: %d %q, want %q", accept, a.StatusCode, got, want)
		}
		if !strings.Contains(strings.Join(a.Header.Values("Vary"), ","), "Accept") {
			t.Errorf("Accept %q: no Vary", accept)
		}
	}
}

// Bad input is a 4xx problem, and nothing of it reaches another service.
func TestBadInput(t *testing.T) {
	shop := start(t, nil)
	key, quote := uuid.NewString(), uuid.NewString()
	form := "key=" + key + "&quote=" + quote + "&sku=42&qty=1"
	get := func(path string) func() *http.Request {
		return func() *http.Request { r, _ := http.NewRequest(http.MethodGet, shop.url+path, nil); return r }
	}
	post := func(contentType, body string) func() *http.Request {
		return func() *http.Request {
			r, _ := http.NewRequest(http.MethodPost, shop.url+"/checkout", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			return r
		}
	}
	const urlencoded = "application/x-www-form-urlencoded"
	for name, tc := range map[string]struct {
		request func() *http.Request
		status  int
	}{
		"id is a word":            {get("/products/mug"), 404},
		"id is negative":          {get("/products/-1"), 404},
		"id is zero":              {get("/products/0"), 404},
		"id beyond any integer":   {get("/products/99999999999999999999"), 404},
		"id climbs up":            {get("/products/..%2f..%2fetc%2fpasswd"), 404},
		"id with a NUL":           {get("/products/%00"), 404},
		"id is SQL":               {get("/products/1;DROP%20TABLE%20products"), 404},
		"picture of nothing":      {get("/pictures/0.svg"), 404},
		"picture climbs up":       {get("/pictures/..%2fserver.svg"), 404},
		"file climbs up":          {get("/static/..%2fmain.go"), 404},
		"no such file":            {get("/static/app.js"), 404},
		"page is a word":          {get("/?page=two"), 400},
		"page zero":               {get("/?page=0"), 400},
		"page beyond the last":    {get("/?page=9999"), 404},
		"two pages":               {get("/?page=1&page=2"), 400},
		"no such department":      {get("/?category=weapons"), 404},
		"long search":             {get("/?q=" + strings.Repeat("a", 101)), 400},
		"search is not UTF-8":     {get("/?q=%ff%fe"), 400},
		"checkout of nothing":     {get("/checkout"), 400},
		"checkout of a word":      {get("/checkout?sku=mug"), 400},
		"checkout of 100":         {get("/checkout?sku=1&qty=100"), 400},
		"checkout of 0":           {get("/checkout?sku=1&qty=0"), 400},
		"checkout of +1":          {get("/checkout?sku=%2b1"), 400},
		"checkout of 21 products": {get("/checkout?" + strings.Repeat("sku=1&", 21)), 400},
		"more quantities":         {get("/checkout?sku=1&qty=1&qty=2"), 400},
		"checkout of an unknown":  {get("/checkout?sku=999999&qty=1"), 404},
		"key is no key":           {get("/checkout?sku=1&qty=1&key=mine"), 400},
		"order id is no id":       {get("/orders/1"), 404},
		"order id climbs up":      {get("/orders/..%2fcheckouts"), 404},
		"checkout key climbs up":  {get("/checkout/..%2forders"), 404},
		"order id in capitals":    {get("/orders/" + strings.ToUpper(uuid.NewString())), 404},
		"unknown problem":         {get("/problems/none"), 404},
		"no such address":         {get("/admin"), 404},
		"metrics are not public":  {get("/metrics"), 404},
		"profiles are not public": {get("/debug/pprof/"), 404},
		"JSON instead of a form":  {post("application/json", `{"sku":1}`), 415},
		"multipart":               {post("multipart/form-data; boundary=x", "--x--"), 415},
		"no content type":         {post("", form), 415},
		"empty form":              {post(urlencoded, ""), 400},
		"broken escape":           {post(urlencoded, form+"&sku=%zz"), 400},
		"no key":                  {post(urlencoded, "quote="+quote+"&sku=42&qty=1"), 400},
		"two keys":                {post(urlencoded, form+"&key="+key), 400},
		"key is a word":           {post(urlencoded, "key=abc&quote="+quote+"&sku=42&qty=1"), 400},
		"no quote":                {post(urlencoded, "key="+key+"&sku=42&qty=1"), 400},
		"no product":              {post(urlencoded, "key="+key+"&quote="+quote), 400},
		"product twice":           {post(urlencoded, form+"&sku=42&qty=1"), 400},
		"quantity missing":        {post(urlencoded, form+"&sku=43"), 400},
		"quantity 100":            {post(urlencoded, "key="+key+"&quote="+quote+"&sku=42&qty=100"), 400},
		"quantity is huge":        {post(urlencoded, "key="+key+"&quote="+quote+"&sku=42&qty=99999999999999999999"), 400},
		"a field of its own":      {post(urlencoded, form+"&price=1"), 400},
		"an unknown product":      {post(urlencoded, "key="+key+"&quote="+quote+"&sku=999999&qty=1"), 404},
		"body too large":          {post(urlencoded, form+"&sku="+strings.Repeat("1", maxForm)), 413},
		"a megabyte":              {post(urlencoded, strings.Repeat("a=b&", 1<<18)), 413},
		"wrong method": {func() *http.Request {
			r, _ := http.NewRequest(http.MethodDelete, shop.url+"/products/1", nil)
			return r
		}, 405},
		"post to a page":      {func() *http.Request { r, _ := http.NewRequest(http.MethodPost, shop.url+"/", nil); return r }, 405},
		"a method of its own": {func() *http.Request { r, _ := http.NewRequest("BREW", shop.url+"/", nil); return r }, 405},
	} {
		t.Run(name, func(t *testing.T) {
			for _, accept := range []string{"text/html", "application/json"} {
				req := tc.request()
				req.Header.Set("Accept", accept)
				a := shop.browser().do(req)
				a.want(t, tc.status)
				want := "text/html; charset=utf-8"
				if accept == "application/json" {
					want = "application/problem+json"
				}
				if got := a.Header.Get("Content-Type"); got != want {
					t.Errorf("Accept %s: content type %q", accept, got)
				}
			}
		})
	}
	if n := shop.orders.count(); n != 0 {
		t.Errorf("orders was asked %d times", n)
	}
	if n := shop.ledger.count(); n != 0 {
		t.Errorf("%d orders were placed", n)
	}
}

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
