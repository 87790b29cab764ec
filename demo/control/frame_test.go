package control

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
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
