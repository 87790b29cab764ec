package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func mustSet(t *testing.T, c *Client, kind, edge string, length time.Duration) Active {
	t.Helper()
	a, err := c.Set(t.Context(), Fault{Kind: kind, Edge: edge, For: length, Latency: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func kinds(t *testing.T, c *Client) string {
	t.Helper()
	list, err := c.Active(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range list {
		names = append(names, a.Edge+":"+a.Kind)
	}
	return strings.Join(names, " ")
}

func TestSetRefusesWhatCannotBe(t *testing.T) {
	fake := newFake("one", "two")
	for want, f := range map[string]Fault{
		"there are latency, hang, refuse, reset, trickle": {Kind: "explode", Edge: "one", For: time.Minute},
		"there are one, two":                              {Kind: "hang", Edge: "three", For: time.Minute},
		"not between 1s and 1h":                           {Kind: "hang", Edge: "one"},
		"fault for 2h0m0s is not":                         {Kind: "hang", Edge: "one", For: 2 * time.Hour},
		"latency of 0s is not":                            {Kind: "latency", Edge: "one", For: time.Minute},
		"latency of -1s is not":                           {Kind: "latency", Edge: "one", For: time.Minute, Latency: -time.Second},
		"share of 1.5 is not":                             {Kind: "latency", Edge: "one", For: time.Minute, Latency: time.Second, Share: 1.5},
		"share of 0.5 is not":                             {Kind: "hang", Edge: "one", For: time.Minute, Share: 0.5},
		"latency of 24h0m0s is not":                       {Kind: "latency", Edge: "one", For: time.Minute, Latency: 24 * time.Hour},
	} {
		if _, err := fake.client().Set(t.Context(), f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
		}
	}
	if len(fake.calls) > 0 {
		t.Errorf("changed something: %v", fake.calls)
	}
}

func TestFaultHasItsFullTimeAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one", "two")
		c := fake.client()
		time.Sleep(300 * time.Millisecond) // not on a full second
		mustSet(t, c, "hang", "one", 10*time.Second)
		mustSet(t, c, "refuse", "two", 10*time.Second)
		time.Sleep(10 * time.Second)
		if ended, err := c.Sweep(t.Context(), time.Now()); err != nil || len(ended) > 0 {
			t.Errorf("ended %v too early, %v", ended, err)
		}
		time.Sleep(time.Second)
		if ended, err := c.Sweep(t.Context(), time.Now()); err != nil || len(ended) != 2 {
			t.Errorf("ended %v, %v; want both", ended, err)
		}
		fake.whole(t)
	})
}

func TestSameKindReplacesOthersAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one")
		c := fake.client()
		for range 2 {
			for _, k := range Kinds() {
				mustSet(t, c, k.Name, "one", time.Minute)
			}
		}
		if got, want := kinds(t, c), "one:hang one:latency one:refuse one:reset one:trickle"; got != want {
			t.Errorf("active: %s\nwant:   %s", got, want)
		}
		if fake.edges["one"].Enabled {
			t.Error("setting refuse again opened the edge")
		}
		if _, err := c.Mend(t.Context()); err != nil {
			t.Error(err)
		}
		fake.whole(t)
	})
}

func TestEndingAReplacedRefusalLeavesTheNewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one")
		c := fake.client()
		old := mustSet(t, c, "refuse", "one", time.Minute)
		mustSet(t, c, "refuse", "one", time.Hour)
		if err := c.End(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		if fake.edges["one"].Enabled || kinds(t, c) != "one:refuse" {
			t.Errorf("the new refusal was lost: %+v", *fake.edges["one"])
		}
	})
}

// The process may die after any of its calls to Toxiproxy. Whatever is broken then must have an end.
func TestDyingHalfwayLeavesNothingForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, dies := range []int{1, 2, 3, 4} {
			fake := newFake("one")
			fake.sick = func(r *http.Request) bool { return r.Method != http.MethodGet && len(fake.calls) >= dies }
			c := fake.client()
			a, err := c.Set(t.Context(), Fault{Kind: "refuse", Edge: "one", For: time.Minute})
			if err == nil {
				_ = c.End(t.Context(), a)
			}
			fake.sick = nil
			if _, err := c.Sweep(t.Context(), time.Now().Add(2*time.Minute)); err != nil {
				t.Error(err)
			}
			fake.whole(t)
		}
	})
}

func TestFaultThatCouldNotBeSetLeavesNothing(t *testing.T) {
	fake := newFake("one")
	fake.sick = func(r *http.Request) bool { return r.URL.Path == "/proxies/one" && len(fake.calls) == 2 } // the disabling
	if _, err := fake.client().Set(t.Context(), Fault{Kind: "refuse", Edge: "one", For: time.Minute}); err == nil {
		t.Error("an edge that still listens was called refusing")
	}
	fake.whole(t)
}

func TestStrangersFaultsAreShownKeptAndMended(t *testing.T) {
	fake := newFake("one", "two", "three")
	c := fake.client()
	fake.edges["one"].Enabled = false
	fake.edges["two"].Toxics = []toxic{{Name: "mine", Type: "bandwidth"}}
	if got, want := kinds(t, c), "one:refuse two:bandwidth"; got != want {
		t.Errorf("active: %s\nwant:   %s", got, want)
	}
	if ended, err := c.Sweep(t.Context(), time.Now().Add(1000*time.Hour)); err != nil || len(ended) > 0 {
		t.Errorf("swept %v, %v: not the janitor's", ended, err)
	}
	if ended, err := c.Mend(t.Context(), "two"); err != nil || len(ended) != 1 || fake.edges["one"].Enabled {
		t.Errorf("mended %v, %v; want edge two only", ended, err)
	}
	if _, err := c.Mend(t.Context()); err != nil {
		t.Error(err)
	}
	fake.whole(t)
}

func TestOneStuckEdgeDoesNotSaveTheOthersFromMending(t *testing.T) {
	fake := newFake("one", "two")
	c := fake.client()
	mustSet(t, c, "hang", "one", time.Minute)
	mustSet(t, c, "hang", "two", time.Minute)
	fake.sick = func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/proxies/one/") }
	ended, err := c.Mend(t.Context())
	if err == nil || !strings.Contains(err.Error(), "hang on one") || len(ended) != 1 || ended[0].Edge != "two" {
		t.Errorf("ended %v, %v", ended, err)
	}
}

func TestHoldEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one", "two")
		c, began := fake.client(), time.Now()
		set := []Active{mustSet(t, c, "refuse", "one", 30*time.Second), mustSet(t, c, "hang", "two", 30*time.Second)}
		if early, err := c.Hold(t.Context(), set); early || err != nil || time.Since(began) != 30*time.Second {
			t.Errorf("early %v, %v, after %v", early, err, time.Since(began))
		}
		fake.whole(t)
	})
}

func TestHoldMendsAtCtrlC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one")
		c, began := fake.client(), time.Now()
		set := []Active{mustSet(t, c, "refuse", "one", time.Hour)}
		ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
		defer cancel()
		if early, err := c.Hold(ctx, set); early || err != nil || time.Since(began) != 5500*time.Millisecond {
			t.Errorf("early %v, %v, after %v", early, err, time.Since(began))
		}
		fake.whole(t)
	})
}

func TestHoldNoticesThatSomebodyElseMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one")
		c, began := fake.client(), time.Now()
		set := []Active{mustSet(t, c, "hang", "one", time.Hour)}
		time.AfterFunc(3500*time.Millisecond, func() { c.Mend(context.Background()) })
		if early, err := c.Hold(t.Context(), set); !early || err != nil || time.Since(began) != 4*time.Second {
			t.Errorf("early %v, %v, after %v", early, err, time.Since(began))
		}
	})
}

func TestHoldSaysThatItCouldNotMend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one")
		c := fake.client()
		set := []Active{mustSet(t, c, "hang", "one", 10*time.Second)}
		fake.sick = func(*http.Request) bool { return true }
		if _, err := c.Hold(t.Context(), set); err == nil {
			t.Error("an edge that stayed broken was called mended")
		}
	})
}

func TestJanitorEndsWhatAKilledToolLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake("one", "two")
		c, began := fake.client(), time.Now()
		mustSet(t, c, "refuse", "one", 5*time.Second)
		mustSet(t, c, "trickle", "two", 20*time.Second)
		fake.sick = func(*http.Request) bool {
			return time.Since(began) > 8*time.Second && time.Since(began) < 12*time.Second
		}
		var ended []string
		failures := 0
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		c.Janitor(ctx,
			func(a Active) { ended = append(ended, time.Since(began).String()+" "+a.Kind) },
			func(error) { failures++ })
		if want := []string{"5s refuse", "20s trickle"}; !slices.Equal(ended, want) {
			t.Errorf("ended %v, want %v", ended, want)
		}
		if failures != 1 {
			t.Errorf("complained %d times about one outage", failures)
		}
		fake.whole(t)
	})
}

func TestUnreachableToxiproxySaysSo(t *testing.T) {
	c := NewClient("http://127.0.0.1:1", nil)
	for name, err := range map[string]error{
		"set": func() error {
			_, err := c.Set(t.Context(), Fault{Kind: "hang", Edge: "one", For: time.Minute})
			return err
		}(),
		"mend":  func() error { _, err := c.Mend(t.Context()); return err }(),
		"sweep": func() error { _, err := c.Sweep(t.Context(), time.Now()); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "toxiproxy: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
