package incident

import (
	"os"
	"testing"
)

func TestEveryStoryIsListedOnceAndFound(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		in, ok := Find(s.Name, Options{Speed: 10})
		if seen[s.Name] || s.Title == "" || s.Sentence == "" || !ok || in.Name != s.Name || s.Engine != in.needs.engine {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
	}
	if _, ok := Find("closing", Options{}); ok || len(seen) != 6 {
		t.Error(seen)
	}
}

// Whoever reads a verdict can go to the code that keeps it and to the test that would notice, and both are there.
func TestEveryPromiseLeadsToItsCodeAndItsTest(t *testing.T) {
	for _, s := range All() {
		in, _ := Find(s.Name, Options{Speed: 1})
		r := record{protected: newSeenOf(), naive: newSeenOf()}
		r.phases = []phase{calmly(baseline, 0, 1)}
		for _, v := range linked(in.judge(r)) {
			for _, file := range []string{v.Code, v.Test} {
				if _, err := os.Stat("../../" + file); file == "" || err != nil {
					t.Errorf("%s, %s: %q leads nowhere", s.Name, v.ID, file)
				}
			}
			if v.Result() == Pass {
				t.Errorf("%s, %s: kept, and nothing was measured: %s", s.Name, v.ID, v.Protected)
			}
		}
	}
}

func TestStoriesRefuseWhatTheyCannotDo(t *testing.T) {
	for name, want := range map[string]string{"restart-all": "engine", "outage": "databases"} {
		in, _ := Find(name, Options{Speed: 10})
		if _, err := Run(t.Context(), in, newWorld().config()); err == nil {
			t.Errorf("%s was played without its %s", name, want)
		}
	}
}
