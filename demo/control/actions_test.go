package control

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

func TestBadOrdersBreakNothing(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"no JSON":         {`edges=redis`, 400, "not the JSON"},
		"a misspelt name": {`{"edge":"redis","kind":"hang"}`, 400, "edge"},
		"no edge":         {`{"edges":[],"kind":"hang"}`, 400, "1 to 20 edges"},
		"no kind":         {`{"edges":["redis"]}`, 400, "there are latency, hang"},
		"unknown kind":    {`{"edges":["redis"],"kind":"fire"}`, 400, "there are latency, hang"},
		"unknown edge":    {`{"edges":["moon"],"kind":"hang"}`, 422, `no edge "moon"`},
		"for ever":        {`{"edges":["redis"],"kind":"hang","for":"0s"}`, 400, "between 1s and 10m"},
		"for an hour":     {`{"edges":["redis"],"kind":"hang","for":"1h"}`, 400, "between 1s and 10m"},
		"not a duration":  {`{"edges":["redis"],"kind":"hang","for":"soon"}`, 400, "30s or 4.8s"},
		"no latency":      {`{"edges":["redis"],"kind":"latency","latency":"-1s"}`, 400, "between 1ms and 1m"},
		"one of two sick": {`{"edges":["productpage-orders","redis"],"kind":"hang"}`, 422, "sick"},
		"too much":        {`{"edges":["` + strings.Repeat("x", 5000) + `"],"kind":"hang"}`, 400, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.sick = "redis"
			r := w.room(t)
			var p problem
			if status := do(t, r, "POST", "/api/faults", c.body, &p); status != c.status || !strings.Contains(p.Detail, c.says) {
				t.Errorf("%d %+v, want %d and %q", status, p, c.status, c.says)
			}
			if w.broken() {
				t.Error("something was broken all the same")
			}
		})
	}
}

func TestAFaultAlwaysHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r := w.room(t)
		if status := do(t, r, "POST", "/api/faults", `{"edges":["redis"],"kind":"hang"}`, nil); status != 201 {
			t.Fatalf("%d", status)
		}
		r.look(t.Context())
		if b := r.read(t).Broken; len(b) != 1 || b[0].Seconds < 30 || b[0].Seconds > 31 {
			t.Errorf("left out, the end is not after 30 s: %+v", b)
		}
	})
}

func TestOnlyJSONIsAnOrder(t *testing.T) {
	r := newWorld().room(t)
	req := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/api/faults", strings.NewReader(breakIt))
	req.Header.Set("Content-Type", "text/plain") // what a form of another site could send without asking
	rec := httptest.NewRecorder()
	r.Handler().ServeHTTP(rec, req)
	if rec.Code != 415 {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// Every edge of the compose file's Toxiproxy can be broken from here.
func TestPlacesCoverEveryEdge(t *testing.T) {
	for _, p := range places() {
		if p.Hurt == "" || p.Shielded == "" || len(p.Watch) == 0 {
			t.Errorf("%s does not explain itself", p.Name)
		}
	}
	for _, edge := range edgesOfTheStack(t) {
		if placeOf(edge).Hurt == "" {
			t.Errorf("the edge %s belongs to no place", edge)
		}
	}
}

func TestThePlanNeedsADatabaseAndAnEnd(t *testing.T) {
	r := newWorld().room(t)
	for body, status := range map[string]int{`{"for":"1h"}`: 400, `{"for":"0s"}`: 400, `{"kind":"x"}`: 400, `{}`: 404} {
		if got := do(t, r, "POST", "/api/plan", body, nil); got != status {
			t.Errorf("%s answers %d, want %d", body, got, status)
		}
	}
	if got := do(t, r, "POST", "/api/plan/analyze", "", nil); got != 404 {
		t.Errorf("analyze answers %d", got)
	}
}
