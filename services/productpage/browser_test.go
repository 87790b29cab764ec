package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

// browser is a visitor with cookies who asks for HTML.
type browser struct {
	t      testing.TB
	base   string
	client *http.Client
}

func (r *running) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{r.t, r.url, &http.Client{Jar: jar, Timeout: 90 * time.Second}}
}

// once is a browser that shows redirects instead of following them.
func (b *browser) once() *browser {
	c := *b.client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{b.t, b.base, &c}
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body string
	took time.Duration
}

func (b *browser) get(path string) answer {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodGet, b.base+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	return b.do(req)
}

func (b *browser) post(path string, form url.Values) answer {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodPost, b.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(req)
}

func (b *browser) do(req *http.Request) answer {
	b.t.Helper()
	begin := time.Now()
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return answer{resp, string(body), time.Since(begin)}
}

// json asks for the product page as a program does.
func (b *browser) json(path string) (answer, pageAnswer) {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodGet, b.base+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	a := b.do(req)
	var p pageAnswer
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		b.t.Fatalf("%s: %v\n%.300s", path, err, a.body)
	}
	return a, p
}

// pageAnswer is the JSON page as the contract describes it, in names of its own so that a renamed member is noticed.
type pageAnswer struct {
	Product struct {
		ID   int
		Name string
	}
	Price *struct {
		Amount   int64
		Currency string
		Stale    bool
		AsOf     time.Time `json:"as_of"`
	}
	Stock *struct {
		Available int
		Snapshot  bool
	}
	Recommendations []struct {
		ProductID int `json:"product_id"`
		Name      string
	}
	Degraded []string
}

// want fails the test unless the answer has the status and all of the texts.
func (a answer) want(t testing.TB, status int, texts ...string) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d\n%.600s", a.Request.Method, a.Request.URL, a.StatusCode, status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%s %s lacks %q", a.Request.Method, a.Request.URL, text)
		}
	}
}
