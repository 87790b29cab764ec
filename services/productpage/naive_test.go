package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The one pool is what takes the naive page down: a slot is taken until the answer was read, whoever waits for what.
func TestNaivePoolIsSharedUntilTheBodyIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := func(*http.Request) (*http.Response, error) {
			return &http.Response{Body: io.NopCloser(strings.NewReader("an answer"))}, nil
		}
		p := &pool{slots: make(chan struct{}, 1), next: roundTripper(answer)}
		ask := func(patience time.Duration) (*http.Response, error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://pricing/prices", nil)
			if err != nil {
				t.Fatal(err)
			}
			return p.RoundTrip(req)
		}
		slow, err := ask(naivePatience)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := ask(naivePatience); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != naivePatience {
			t.Errorf("while the slot is taken: %v after %v, want the end of all patience", err, time.Since(begun))
		}
		time.AfterFunc(time.Second, func() { slow.Body.Close(); slow.Body.Close() }) // twice gives back once
		for range 3 {
			resp, err := ask(2 * time.Second)
			if err != nil {
				t.Fatalf("the slot was not given back: %v", err)
			}
			resp.Body.Close()
		}
		p.next = roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") })
		for range 2 {
			if _, err := ask(time.Second); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a failed request keeps its slot: %v", err)
			}
		}
	})
}

func TestTheSwitchChangesPolicyAndContract(t *testing.T) {
	on, off := &Config{Resilience: true}, &Config{}
	if on.contract() != ourContract() || on.contract().page != 500*time.Millisecond {
		t.Errorf("protected: %+v", on.contract())
	}
	if c := off.contract(); c.gather() <= naivePatience || c.recommendations.Total != naivePatience {
		t.Errorf("naive: %+v", c)
	}
	shop := startWith(t, off.contract(), map[string]string{"RESILIENCE": "off"})
	a := shop.browser().get("/products/42")
	a.want(t, http.StatusOK, "naive twin")
	if a.Header.Get("Degraded") != "" {
		t.Errorf("degraded while all is well: %v", a.Header)
	}
}
