package main

import (
	"net/http"
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
		{"/how-an-order-is-placed", "text/html; charset=utf-8", "public, max-age=3600", 200},
		{"/sequences/order-placed.svg", "image/svg+xml", "public, max-age=3600", 200},
		{"/sequences/none.svg", "text/html; charset=utf-8", "no-store", 404},
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
