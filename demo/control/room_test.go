package control

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// lived runs a room in virtual time. do is called once it has settled; afterwards everything must have ended, or synctest complains.
func lived(t *testing.T, do func(t *testing.T, w *world, r *Room)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r := w.room(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(8500 * time.Millisecond) // the last five seconds are full
		do(t, w, r)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func (r *Room) read(t *testing.T) (s State) {
	t.Helper()
	if status := do(t, r, "GET", "/api/state", "", &s); status != 200 {
		t.Fatalf("state answers %d", status)
	}
	return s
}

const breakIt = `{"edges":["recommendations-postgres"],"kind":"latency","latency":"4.8s","for":"20s"}`

// The page walks through every list of the state, from its first event on: none may be null.
func TestNoListIsNullAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, err := json.Marshal(newWorld().room(t).state(time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		if nothing := strings.ReplaceAll(string(state), `"incident":null`, ""); strings.Contains(nothing, "null") {
			t.Errorf("%s", nothing)
		}
	})
}

func TestWellBrokenHealed(t *testing.T) {
	lived(t, func(t *testing.T, _ *world, r *Room) {
		s := r.read(t)
		if s.Story.Mood != "well" || len(s.Broken) != 0 {
			t.Fatalf("at first: %+v, broken %v", s.Story, s.Broken)
		}
		for _, name := range []string{protected, naive} {
			p := s.Pages[name]
			if p.Now.Visits != 20 || p.Now.P95 != 30 || p.Now.Unserved != 0 || p.Shot.Version == "" || p.Shot.WaitingS != 0 {
				t.Errorf("%s at first: %+v, %+v", name, p.Now, p.Shot)
			}
		}

		var made struct{ Until time.Time }
		if status := do(t, r, "POST", "/api/faults", breakIt, &made); status != 201 {
			t.Fatalf("breaking answers %d", status)
		}
		time.Sleep(6500 * time.Millisecond)
		s = r.read(t)
		if s.Story.Mood != "broken" || !strings.Contains(s.Story.Headline, "answers 4.8 s late") || len(s.Broken) != 1 {
			t.Errorf("broken: %+v, %v", s.Story, s.Broken)
		}
		if left := s.Broken[0].Seconds; left < 12 || left > 15 {
			t.Errorf("%v s left of 20 after 6.5", left)
		}
		if !strings.Contains(s.Story.Why, "productpage → recommendations, next try in 13 s") {
			t.Errorf("the breaker is not in the story: %s", s.Story.Why)
		}
		p := s.Pages[protected]
		if p.Now.Degraded < 0.8 || p.Now.Unserved != 0 || p.Shot.Degraded != "recommendations" || len(p.Lacks) != 1 {
			t.Errorf("protected: %+v %+v lacks %v", p.Now, p.Shot, p.Lacks)
		}
		n := s.Pages[naive]
		if n.Waiting < 20 || n.Longest < 5 || n.Now.Unserved < 0.5 || n.Now.P95 < 4000 || n.Shot.WaitingS < 4 {
			t.Errorf("naive: %+v %+v waiting %d, %v s", n.Now, n.Shot, n.Waiting, n.Longest)
		}
		if len(s.Spans) != 1 || s.Spans[0].To-s.Spans[0].From < 5 {
			t.Errorf("spans: %v", s.Spans)
		}

		time.Sleep(time.Until(made.Until) + 16*time.Second)
		s = r.read(t)
		if s.Story.Mood != "well" || len(s.Broken) != 0 || !strings.Contains(s.Happenings[0].What, "ended by itself") {
			t.Errorf("in the end: %+v, broken %v, %v", s.Story, s.Broken, s.Happenings)
		}
	})
}

func TestMendEverything(t *testing.T) {
	lived(t, func(t *testing.T, w *world, r *Room) {
		do(t, r, "POST", "/api/faults", breakIt, nil)
		do(t, r, "POST", "/api/faults", `{"edges":["redis"],"kind":"refuse"}`, nil)
		var mended struct{ Mended []string }
		if status := do(t, r, "POST", "/api/mend", "", &mended); status != 200 || len(mended.Mended) != 2 {
			t.Errorf("mend answers %d, %v", status, mended)
		}
		if w.broken() {
			t.Error("something is still broken")
		}
	})
}

func TestASilentServiceIsShownAsSilent(t *testing.T) {
	lived(t, func(t *testing.T, w *world, r *Room) {
		s := r.read(t).Services[0]
		if s.Silent || len(s.Dependencies) != 1 || s.Dependencies[0].Limit != 50 || s.Dependencies[0].BudgetLeft != 9 || s.Dependencies[0].Reason == "" {
			t.Errorf("%+v", s)
		}
		if len(s.Pools) != 2 || s.Pools[0] != (Pool{"catalogue", 3, 4}) || s.Pools[1] != (Pool{"redis", 3, 0}) {
			t.Errorf("pools %+v", s.Pools)
		}
		w.silent.Store(true)
		time.Sleep(1100 * time.Millisecond)
		if s := r.read(t).Services[0]; !s.Silent || len(s.Dependencies) != 0 {
			t.Errorf("a silent service still shows %+v", s)
		}
	})
}

func TestOneIncidentAtATime(t *testing.T) {
	lived(t, func(t *testing.T, w *world, r *Room) {
		if status := do(t, r, "POST", "/api/incidents/opening", "", nil); status != 202 {
			t.Fatalf("start answers %d", status)
		}
		var p problem
		if status := do(t, r, "POST", "/api/incidents/opening", "", &p); status != 409 || p.Type != "/problems/incident-running" {
			t.Errorf("a second one: %d %+v", status, p)
		}
		if status := do(t, r, "POST", "/api/faults", breakIt, &p); status != 409 {
			t.Errorf("a fault beside it: %d", status)
		}
		time.Sleep(20 * time.Second)
		if s := r.read(t); !s.Incident.Running || len(s.Incident.Lines) == 0 || s.Story.Mood != "broken" {
			t.Errorf("20 s into it: %+v %+v", s.Incident, s.Story)
		}
		time.Sleep(75 * time.Second)
		s := r.read(t)
		if s.Incident.Running || s.Incident.Sentence == "" || s.Incident.Report == "" || w.broken() {
			t.Errorf("over: %+v", s.Incident)
		}
		if status := do(t, r, "GET", s.Incident.Report, "", nil); status != 200 || strings.Contains(string(r.incidents.report), `href="../`) {
			t.Errorf("the report answers %d, or leads to what is not served", status)
		}
	})
}

func TestMendStopsTheIncident(t *testing.T) {
	lived(t, func(t *testing.T, w *world, r *Room) {
		do(t, r, "POST", "/api/incidents/opening", "", nil)
		time.Sleep(15 * time.Second)
		if !w.broken() {
			t.Fatal("the incident has broken nothing")
		}
		do(t, r, "POST", "/api/mend", "", nil)
		if s := r.read(t); s.Incident.Running || w.broken() || !strings.Contains(s.Incident.Sentence, "stopped early") {
			t.Errorf("after mend: %+v", s.Incident)
		}
	})
}

func TestNoIncidentOnTopOfAFault(t *testing.T) {
	lived(t, func(t *testing.T, _ *world, r *Room) {
		do(t, r, "POST", "/api/faults", breakIt, nil)
		var p problem
		if status := do(t, r, "POST", "/api/incidents/opening", "", &p); status != 409 || p.Type != "/problems/broken-already" {
			t.Errorf("%d %+v", status, p)
		}
	})
}
