package incident

import (
	"testing"
	"time"

	"watertight.example/demo/load"
	"watertight.example/demo/pulse"
)

// In the article's own time act two is longer than a count may be shown: 2 minutes after it began having none is right.
func TestTheBannerGoesWhenAllCountsAreTooOld(t *testing.T) {
	act := sick(slowStores, 100, 340)
	for name, c := range map[string]struct {
		until float64 // in the act: when the banner goes
		stale float64 // when the counts under it become too old
		want  string
	}{
		"as old as they may be":             {120, 240, "239 of 239, 0 of 84 without a count; later 118 of 118 pass"},
		"somebody goes on counting":         {240, 240, "239 of 239, 0 of 84 without a count; later 0 of 118 pass"},
		"the counts of the morning":         {240, 120, "239 of 239, 0 of 84 without a count; later 0 of 118; 118 counts too old FAIL"},
		"an old snapshot from the first on": {80, 79, "239 of 239, 5 of 84 without a count; later 118 of 118; 1 counts too old FAIL"},
		"gone too early":                    {82, 240, "239 of 239, 3 of 84 without a count; later 118 of 118 FAIL"},
		"two that Redis was late for":       {83, 240, "239 of 239, 2 of 84 without a count; later 118 of 118 pass"},
		"never there":                       {0, 240, "239 of 239, 84 of 84 without a count; later 118 of 118 FAIL"},
	} {
		s := newSeenOf()
		for i := range 239 {
			at := 1 + float64(i)
			s.samples = append(s.samples, load.Sample{Kind: load.Product, At: second(100 + at), Class: load.Degraded, Parts: []string{"stock"},
				Banner: at < c.until, Stale: at < c.until && at >= c.stale})
		}
		if f := s.banner(second(101), true, act); f.String() != c.want {
			t.Errorf("%s: %s, want %s", name, f, c.want)
		}
	}
	disturbed := newSeenOf()
	disturbed.samples = samples{{Kind: load.Product, At: second(101), Latency: time.Second, Class: load.Degraded, Parts: []string{"stock"}}}
	disturbed.pauses = pulse.Pauses{{From: second(101.2), To: second(101.4)}}
	if f := disturbed.banner(second(101), true, act); f.Result != Pass {
		t.Errorf("the machine stood still: %s", f)
	}
}
