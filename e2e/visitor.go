//go:build e2e

package e2e

import (
	"bytes"
	"context"
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
