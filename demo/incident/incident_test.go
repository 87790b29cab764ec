package incident

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func usual() Incident {
	return Opening(Times{10 * time.Second, 30 * time.Second, 45 * time.Second}, "recommendations-postgres")
}

func TestOpeningOnAShopThatKeepsItsPromises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, began := newWorld(), time.Now()
		var terminal strings.Builder
		cfg := w.config()
		cfg.Terminal = &terminal
		rep, err := Run(t.Context(), usual(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		w.whole(t)
		if len(rep.Broken()) > 0 || len(rep.Unjudged()) > 0 || len(rep.Verdicts) != 17 {
			rep.Print(&terminal)
			t.Errorf("%s\n%s", rep.Sentence(), terminal.String())
		}
		if took := time.Since(began); took < 85*time.Second || took > 88*time.Second {
			t.Errorf("took %v, want the 85 s and the grace of the load", took)
		}
		for _, want := range []string{"--- baseline", "--- fault: the database of recommendations", "--- recovery",
			"  20s  |  protected p95    20 ms  failed  0  degraded 100 %  breaker open       |  naive p95   7.00 s", "breaker closed"} {
			if !strings.Contains(terminal.String(), want) {
				t.Errorf("no %q in\n%s", want, terminal.String())
			}
		}
		if lines := strings.Count(terminal.String(), "  |  protected"); lines < 84 || lines > 87 {
			t.Errorf("%d lines in 85 s", lines)
		}
	})
}

func TestWithoutNaiveTwinAndInternalListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.down["naive"], w.down["shop-internal"] = true, true
		cfg := w.config()
		var terminal strings.Builder
		cfg.Naive, cfg.Protected.Internal, cfg.Terminal = nil, "", &terminal
		rep, err := Run(t.Context(), usual(), cfg)
		if err != nil || len(rep.Twins) != 1 {
			t.Fatal(err, rep.Twins)
		}
		if len(rep.Broken()) > 0 || ids(rep.Unjudged()) != "price, stock, opens, bulkhead, goroutines, probes" {
			t.Error(rep.Sentence())
		}
		said := terminal.String()
		if !strings.Contains(said, "not every promise is judged") || strings.Contains(said, "  breaker") || strings.Contains(said, "naive") {
			t.Error(said)
		}
		var table strings.Builder
		rep.Print(&table)
		if !strings.Contains(table.String(), "NOT JUDGED: 6 promises") || !strings.Contains(table.String(), "make incident") {
			t.Error(table.String())
		}
	})
}

func TestBrokenPromisesAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		worsen func(*world)
		want   string
	}{
		"the naive page stands":    {func(w *world) { w.naivePace = 30 * time.Millisecond }, "collapses, takes-along"},
		"a degraded page hides it": {func(w *world) { w.unmarked = true }, "marked"},
		"an open breaker leaks":    {func(w *world) { w.stray = 1 }, "probes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				c.worsen(w)
				rep, err := Run(t.Context(), usual(), w.config())
				if err != nil || ids(rep.Broken()) != c.want {
					t.Errorf("%v, %s want broken: %q", err, rep.Sentence(), c.want)
				}
			})
		})
	}
}

func TestStoppedIncidentMendsAndReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		ctx, cancel := context.WithTimeout(t.Context(), 13*time.Second)
		defer cancel()
		rep, err := Run(ctx, usual(), w.config())
		if err != nil {
			t.Fatal(err)
		}
		w.whole(t)
		if w.changes != 1 || !rep.Stopped || len(rep.Broken()) > 0 || len(rep.Phases) != 2 || rep.Seconds < 12 || rep.Seconds > 13 {
			t.Errorf("changes %d, %s %+v", w.changes, rep.Sentence(), rep.Phases)
		}
		if s := rep.Sentence(); !strings.Contains(s, "stopped early") || !strings.Contains(s, "heals") {
			t.Errorf("%q does not say what was not measured", s)
		}
	})
}

func TestStoppedBeforeTheFaultBreaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		rep, err := Run(ctx, usual(), w.config())
		if err != nil || w.changes != 0 || len(rep.Broken()) > 0 || len(rep.Unjudged()) != len(rep.Verdicts) {
			t.Errorf("%v, changes %d, %s", err, w.changes, rep.Sentence())
		}
	})
}

func TestSomebodyElseMends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.atOnset = func() { time.AfterFunc(5*time.Second, func() { w.mu.Lock(); w.edgeStolen = true; w.mu.Unlock() }) }
		rep, err := Run(t.Context(), usual(), w.config())
		if err == nil || !strings.Contains(err.Error(), "ended by somebody else") || len(rep.Verdicts) == 0 {
			t.Errorf("%v, %s", err, rep.Sentence())
		}
	})
}

func TestRefusesToStart(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*world, *Config, *Incident)
		want  string
	}{
		"no shop":      {func(w *world, _ *Config, _ *Incident) { w.down["shop"] = true }, "the protected page is not ready"},
		"no twin":      {func(w *world, _ *Config, _ *Incident) { w.down["naive"] = true }, "-only-shop"},
		"no toxiproxy": {func(w *world, _ *Config, _ *Incident) { w.down["toxiproxy"] = true }, "toxiproxy"},
		"no internal":  {func(w *world, _ *Config, _ *Incident) { w.down["shop-internal"] = true }, "leave it out"},
		"broken already": {func(w *world, _ *Config, _ *Incident) {
			w.toxics = []map[string]any{{"name": "hang-expires-1"}}
		}, "hang on recommendations-postgres (demo mend"},
		"no such edge":    {func(_ *world, _ *Config, in *Incident) { *in = Opening(Times{Fault: time.Minute}, "moat") }, `"moat"; there are recommendations-postgres`},
		"too short":       {func(_ *world, _ *Config, in *Incident) { *in = Opening(Times{}, "recommendations-postgres") }, "between 1s and"},
		"a stranger":      {func(_ *world, c *Config, _ *Incident) { c.Naive.Target = "http://shop.example.com" }, "-i-own-this-host"},
		"an unknown rate": {func(_ *world, c *Config, _ *Incident) { c.Rate = 0 }, "rate 0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, in := newWorld(), usual()
				cfg := w.config()
				c.spoil(w, &cfg, &in)
				rep, err := Run(t.Context(), in, cfg)
				if err == nil || !strings.Contains(err.Error(), c.want) || !rep.Began.IsZero() || w.changes > 0 {
					t.Errorf("got %v, want a word about %s; began %v", err, c.want, rep.Began)
				}
			})
		})
	}
}

// What the incident before this one left open must not be taken for the usual state.
func TestBaselineWaitsForAWholePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, began := newWorld(), time.Now()
		w.opened = began.Add(-openFor + 12*time.Second) // closes in 12 s
		var terminal strings.Builder
		cfg := w.config()
		cfg.Terminal = &terminal
		rep, err := Run(t.Context(), usual(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if waited := rep.Began.Sub(began); waited < 12*time.Second || waited > 14*time.Second {
			t.Errorf("the baseline began after %v", waited)
		}
		if !strings.Contains(terminal.String(), "waiting until the protected page is whole (now degraded: recommendations)") {
			t.Error(terminal.String())
		}
	})
}

func TestRefusesAPageThatDoesNotGetWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.opened = time.Now().Add(time.Hour)
		if _, err := Run(t.Context(), usual(), w.config()); err == nil || !strings.Contains(err.Error(), "not whole before anything is broken") {
			t.Errorf("got %v", err)
		}
	})
}
