package control

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFramesAreHarmlessCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorld().room(t)
		get := func(path string) *httptest.ResponseRecorder {
			rec := httptest.NewRecorder()
			r.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1"+path, nil))
			return rec
		}
		if rec := get("/frames/protected/"); rec.Code != 404 {
			t.Errorf("before the first page: %d", rec.Code)
		}
		r.cameras[protected].shoot(t.Context())
		rec := get("/frames/protected/")
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), `src="/frames/protected/pictures/42.svg"`) || !strings.Contains(rec.Body.String(), `href="/frames/protected/static/shop.css"`) {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		if csp := rec.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "sandbox; default-src 'none'") || strings.Contains(csp, "script") {
			t.Errorf("policy %s", csp)
		}
		if rec := get("/frames/protected/static/shop.css"); rec.Code != 200 || rec.Body.String() != "p{}" {
			t.Errorf("style: %d %s", rec.Code, rec.Body)
		}
		for _, path := range []string{"/frames/other/", "/frames/protected/orders/1", "/frames/protected/static/../readyz", "/frames/protected/pictures/a/b"} {
			if rec := get(path); rec.Code == 200 {
				t.Errorf("%s answers 200", path)
			}
		}
	})
}

// A camera that looked at a shop which has just been started would only count as customers whose pages failed.
func TestTheRoomLooksAtAPageWhenItsShopIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, began := newWorld(), time.Now()
		cfg := w.config()
		cfg.Protected.After = []string{"http://stock"}
		cfg.Transport = starting{w, func(req *http.Request) bool { return req.URL.Host == "stock" && time.Since(began) < 20*time.Second }}
		r, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 25*time.Second)
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(19 * time.Second)
		if s := r.cameras[protected].shot(time.Now()); s.Version != "" || s.Trouble != "the shop is starting" || s.WaitingS < 18 {
			t.Errorf("before: %+v", s)
		}
		if n := len(r.probes[protected].visits(time.Now())); n != 0 {
			t.Errorf("%d visitors came too early", n)
		}
		time.Sleep(5 * time.Second)
		if s := r.cameras[protected].shot(time.Now()); s.Version == "" || s.Trouble != "" || s.WaitingS != 0 {
			t.Errorf("after: %+v", s)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// starting answers like next, but for those that are not up yet.
type starting struct {
	next   http.RoundTripper
	absent func(*http.Request) bool
}

func (s starting) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.absent(req) {
		return nil, errors.New("connection refused")
	}
	if req.URL.Host == "stock" {
		req = req.Clone(req.Context())
		req.URL.Host = "shop"
	}
	return s.next.RoundTrip(req)
}
