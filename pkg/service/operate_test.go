package service

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
)

// operate sends a request to the internal listener's handler. A body that begins with { is JSON, any other a form.
func (s *Service) operate(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.7:4711"
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	} else if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.internalHandler().ServeHTTP(w, r)
	return w
}

func TestBreakerIsForcedAndReleased(t *testing.T) {
	s, log := newTestService(t, Program{})
	d := newTestDependency(t, s, testPolicy())
	for _, step := range []struct {
		force string
		state resilience.BreakerState
		held  bool
		line  string
	}{
		{"open", resilience.BreakerOpen, true, `circuit_breaker_state{dependency="pricing",service="test",state="open"} 1`},
		{"closed", resilience.BreakerClosed, true, `circuit_breaker_held{dependency="pricing",service="test"} 1`},
		{"release", resilience.BreakerClosed, false, `circuit_breaker_held{dependency="pricing",service="test"} 0`},
	} {
		w := s.operate("POST", "/resilience/pricing/breaker", `{"force":"`+step.force+`"}`)
		var view dependencyView
		if err := json.Unmarshal(w.Body.Bytes(), &view); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s", step.force, w.Code, w.Body)
		}
		if got := d.State(); got.Breaker != step.state || got.Held != step.held || view.State.Breaker != step.state {
			t.Errorf("%s: %+v, answered %+v", step.force, got, view.State)
		}
		wantLine(t, s.scrape(), step.line)
	}
	lines := log.lines("override")
	if len(lines) != 3 || lines[0]["by"] != "192.0.2.7:4711" || lines[0]["breaker"] != "open" || lines[0]["dependency"] != "pricing" {
		t.Errorf("who did what is not logged: %v", lines)
	}
}

func TestLimitIsChanged(t *testing.T) {
	s, log := newTestService(t, Program{})
	d := newTestDependency(t, s, testPolicy())
	if w := s.operate("POST", "/resilience/pricing/limit", `{"limit":40}`); w.Code != 200 || d.State().Limit != 40 {
		t.Fatalf("%d %s, limit %d", w.Code, w.Body, d.State().Limit)
	}
	wantLine(t, s.scrape(), `bulkhead_max_concurrent{dependency="pricing",service="test"} 40`)
	if lines := log.lines("override"); len(lines) != 1 || lines[0]["limit"] != 40.0 || lines[0]["before"] != 5.0 {
		t.Errorf("not logged: %v", lines)
	}
}

func TestImpossibleOverridesAreProblems(t *testing.T) {
	s, log := newTestService(t, Program{})
	d := newTestDependency(t, s, testPolicy())
	if _, err := s.Dependency("plain", resilience.Config{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path, body string
		status     int
		problem    string
	}{
		"unknown dependency": {"nobody/breaker", `{"force":"open"}`, 404, "not-found"},
		"unknown word":       {"pricing/breaker", `{"force":"ajar"}`, 400, "invalid-parameter"},
		"empty form":         {"pricing/breaker", `x=`, 400, "invalid-parameter"},
		"broken form":        {"pricing/breaker", `force=%zz`, 400, "invalid-parameter"},
		"unknown field":      {"pricing/breaker", `{"force":"open","for":"1m"}`, 400, "malformed-json"},
		"no body":            {"pricing/breaker", ``, 415, "unsupported-media-type"},
		"huge body":          {"pricing/breaker", `{"force":"` + strings.Repeat("o", maxOverrideBytes) + `"}`, 413, "body-too-large"},
		"no breaker":         {"plain/breaker", `{"force":"open"}`, 404, "not-found"},
		"limit of nothing":   {"pricing/limit", `{"limit":0}`, 400, "invalid-parameter"},
		"limit of a slip":    {"pricing/limit", `{"limit":400000}`, 400, "invalid-parameter"},
		"limit in words":     {"pricing/limit", `limit=many`, 400, "invalid-parameter"},
		"no limit":           {"plain/limit", `{"limit":4}`, 404, "not-found"},
	} {
		t.Run(name, func(t *testing.T) {
			wantProblem(t, s.operate("POST", "/resilience/"+c.path, c.body), c.status, c.problem)
		})
	}
	if got := d.State(); got.Held || got.Limit != 5 || log.count("override") > 0 {
		t.Errorf("something was changed: %+v", got)
	}
}

func TestPageShowsWhyAndItsFormsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		d := newTestDependency(t, s, testPolicy())
		for range 4 {
			_ = resilience.Do(t.Context(), d, func(context.Context) error { time.Sleep(time.Millisecond); return errors.New("no") })
		}
		page := s.operate("GET", "/resilience", "", "Accept", "text/html")
		for _, part := range []string{"pricing", "breaker open", "closed to", s.dependencies[0].recent[0].Reason, "0 in flight of at most 5", "opens on",
			`action="/resilience/pricing/breaker"`, `action="/resilience/pricing/limit"`, `name="force" value="open"`, `name="limit"`} {
			if !strings.Contains(page.Body.String(), part) {
				t.Errorf("no %q in %s", part, page.Body)
			}
		}
		if csp := page.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("the page may be framed: %q", csp)
		}
		for path, form := range map[string]string{"breaker": "force=closed", "limit": "limit=7"} {
			w := s.operate("POST", "/resilience/pricing/"+path, form, "Sec-Fetch-Site", "same-origin")
			if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/resilience" {
				t.Errorf("%s: %d to %q", path, w.Code, w.Header().Get("Location"))
			}
		}
		if got := d.State(); got.Breaker != resilience.BreakerClosed || !got.Held || got.Limit != 7 {
			t.Errorf("the forms did nothing: %+v", got)
		}
		_ = s.runStops()
	})
}

func TestOtherSitesPagesChangeNothing(t *testing.T) {
	s, _ := newTestService(t, Program{})
	d := newTestDependency(t, s, testPolicy())
	w := s.operate("POST", "/resilience/pricing/breaker", "force=open", "Sec-Fetch-Site", "cross-site")
	wantProblem(t, w, http.StatusForbidden, "cross-origin")
	if d.State().Held {
		t.Error("forced all the same")
	}
}

func TestLastTransitionsAreKept(t *testing.T) {
	s, _ := newTestService(t, Program{})
	newTestDependency(t, s, testPolicy())
	for range recentTransitions {
		s.operate("POST", "/resilience/pricing/breaker", `{"force":"open"}`)
		s.operate("POST", "/resilience/pricing/breaker", `{"force":"closed"}`)
	}
	view := s.dependencies[0].view()
	if len(view.Recent) != recentTransitions || view.Recent[0].To != resilience.BreakerClosed || view.Recent[1].To != resilience.BreakerOpen {
		t.Errorf("%+v", view.Recent)
	}
	if !strings.Contains(view.Recent[0].Reason, "192.0.2.7:4711") {
		t.Errorf("nobody knows who: %q", view.Recent[0].Reason)
	}
}
