package faults

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"watertight.example/demo/internal/toxitest"
)

// through asks once through an edge, on a connection of its own. It gives the time until the whole answer was there.
func through(ctx context.Context, edge string) (time.Duration, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, edge+"/version", nil)
	if err != nil {
		return 0, err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return time.Since(began), err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && !strings.Contains(string(body), `"version"`) {
		err = errors.New("not Toxiproxy's answer: " + string(body))
	}
	return time.Since(began), err
}

// Every kind of fault must be felt on the edge it was set on, by new connections, on no other edge, and be gone when
// ended. Bounds are only lower ones: how fast this machine is does not matter.
func TestEveryFaultOnARealToxiproxy(t *testing.T) {
	toxi := toxitest.Start(t)
	client := NewClient(toxi.API, nil)
	healthy := func(t *testing.T, edge string) {
		t.Helper()
		if _, err := through(t.Context(), toxi.Edges[edge]); err != nil {
			t.Errorf("edge %s: %v", edge, err)
		}
	}
	for _, c := range []struct {
		kind string
		felt func(took time.Duration, err error) bool
	}{
		{"latency", func(took time.Duration, err error) bool { return err == nil && took >= 300*time.Millisecond }},
		{"hang", func(_ time.Duration, err error) bool { return timeout(err) }},
		{"refuse", func(_ time.Duration, err error) bool { return err != nil && !timeout(err) }},
		{"reset", func(_ time.Duration, err error) bool { return err != nil && !timeout(err) }},
		{"trickle", func(_ time.Duration, err error) bool { return timeout(err) }}, // about 150 bytes, 100 ms each
	} {
		t.Run(c.kind, func(t *testing.T) {
			healthy(t, "one")
			set, err := client.Set(t.Context(), Fault{Kind: c.kind, Edge: "one", For: time.Hour, Latency: 300 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if c.kind == "latency" || c.kind == "refuse" || c.kind == "reset" {
				ctx = t.Context() // these answer by themselves; a slow machine may take its time
			}
			if took, err := through(ctx, toxi.Edges["one"]); !c.felt(took, err) {
				t.Errorf("felt nothing like it: %v after %v", err, took)
			}
			healthy(t, "two")
			if list, err := client.Active(t.Context()); err != nil || len(list) != 1 || list[0] != set {
				t.Errorf("listed %v, %v; want %v", list, err, set)
			}

			if ended, err := client.Sweep(t.Context(), time.Now()); err != nil || len(ended) != 0 {
				t.Errorf("swept %v before its time, %v", ended, err)
			}
			if ended, err := client.Sweep(t.Context(), set.Until); err != nil || len(ended) != 1 {
				t.Errorf("swept %v in its time, %v", ended, err)
			}
			if list, err := client.Active(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("still %v, %v", list, err)
			}
			healthy(t, "one")
		})
	}
}

func timeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// A mended edge must work for the connections that were open during the fault, or be closed for them: none may stay
// stuck. This is what the pools of the services hold.
func TestOpenConnectionsSurviveOrDie(t *testing.T) {
	toxi := toxitest.Start(t)
	client := NewClient(toxi.API, nil)
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			pool := &http.Client{Transport: &http.Transport{}}
			ask := func() error {
				resp, err := pool.Get(toxi.Edges["one"] + "/version")
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				_, err = io.Copy(io.Discard, resp.Body)
				return err
			}
			if err := ask(); err != nil {
				t.Fatal(err)
			}
			set, err := client.Set(t.Context(), Fault{Kind: k.Name, Edge: "one", For: time.Hour, Latency: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			during := make(chan error, 1)
			go func() { during <- ask() }()
			if err := client.End(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			<-during // whichever way it went, it must have ended
			if err := ask(); err != nil {
				t.Errorf("after the fault: %v", err)
			}
		})
	}
}

// A share of the answers is late on one and the same connection: a pool of few must feel it too. The bounds are twelve standard
// deviations wide.
func TestAShareOfTheAnswersIsLate(t *testing.T) {
	toxi := toxitest.Start(t)
	client := NewClient(toxi.API, nil)
	if _, err := client.Set(t.Context(), Fault{Kind: "latency", Edge: "one", For: time.Hour, Latency: 400 * time.Millisecond, Share: 0.25}); err != nil {
		t.Fatal(err)
	}
	late, first := 0, true
	for range 100 {
		began := time.Now()
		resp, err := http.Get(toxi.Edges["one"] + "/version") // the default client keeps its connection
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if took := time.Since(began); took > 40*time.Millisecond && !first { // a tenth of the late ones are below
			late++
		}
		first = false
	}
	if late < 5 || late > 60 {
		t.Errorf("%d of 100 answers were late, want about 25", late)
	}
}
