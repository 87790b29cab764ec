package control

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func edgesOfTheStack(t *testing.T) (names []string) {
	t.Helper()
	file, err := os.ReadFile("../../deploy/toxiproxy/toxiproxy.json")
	if err != nil {
		t.Fatal(err)
	}
	var edges []struct{ Name string }
	if err := json.Unmarshal(file, &edges); err != nil || len(edges) == 0 {
		t.Fatalf("%d edges, %v", len(edges), err)
	}
	for _, e := range edges {
		names = append(names, e.Name)
	}
	return names
}

func TestOthersMayNotUseTheRoom(t *testing.T) {
	for name, c := range map[string]struct {
		host   string
		header [2]string
		status int
	}{
		"curl":                            {"127.0.0.1:18088", [2]string{}, 201},
		"the page itself":                 {"localhost:18088", [2]string{"Sec-Fetch-Site", "same-origin"}, 201},
		"by IPv6":                         {"[::1]:18088", [2]string{}, 201},
		"inside compose":                  {"control-room:8088", [2]string{}, 201},
		"another site":                    {"127.0.0.1:18088", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"another port of this machine":    {"127.0.0.1:18088", [2]string{"Sec-Fetch-Site", "same-site"}, 403},
		"another site, older browser":     {"127.0.0.1:18088", [2]string{"Origin", "http://evil.example"}, 403},
		"a sandboxed frame":               {"127.0.0.1:18088", [2]string{"Origin", "null"}, 403},
		"a name that was pointed at it":   {"evil.example:18088", [2]string{}, 421},
		"a name that begins like a right": {"127.0.0.1.evil.example", [2]string{}, 421},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			r := w.room(t)
			req := httptest.NewRequestWithContext(t.Context(), "POST", "http://"+c.host+"/api/faults", strings.NewReader(breakIt))
			req.Header.Set("Content-Type", "application/json")
			if c.header[0] != "" {
				req.Header.Set(c.header[0], c.header[1])
			}
			rec := httptest.NewRecorder()
			r.Handler().ServeHTTP(rec, req)
			if rec.Code != c.status {
				t.Errorf("answers %d %s, want %d", rec.Code, rec.Body, c.status)
			}
			if c.status != 201 && (w.broken() || rec.Header().Get("Content-Type") != "application/problem+json") {
				t.Errorf("broken %t, %s", w.broken(), rec.Header())
			}
		})
	}
}

func TestNothingChangesByGet(t *testing.T) {
	r := newWorld().room(t)
	for _, path := range []string{"/api/faults", "/api/mend", "/api/incidents/opening"} {
		req := httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1"+path, nil)
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, req)
		if rec.Code != 404 && rec.Code != 405 {
			t.Errorf("GET %s answers %d", path, rec.Code)
		}
	}
}

func TestThePageLoadsOnlyItsOwn(t *testing.T) {
	r := newWorld().room(t)
	for _, path := range []string{"/", "/app.js", "/control.css", "/drop.svg"} {
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1"+path, nil))
		if rec.Code != 200 || rec.Header().Get("Content-Security-Policy") != pagePolicy {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Header())
		}
		body := rec.Body.String()
		for _, never := range []string{"style=", "onclick", "innerHTML", "https://", "eval("} {
			if strings.Contains(body, never) {
				t.Errorf("%s contains %s", path, never)
			}
		}
	}
}
