package resilience

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func mustShed(t *testing.T, cfg Shedding) *Shedder {
	t.Helper()
	s, err := NewShedder("shop", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fixed(n int) Adaptive { return Adaptive{Min: n, Max: n} }

// request makes one of the given kind.
func request(c Criticality) *http.Request {
	switch c {
	case CriticalityCheckout:
		return httptest.NewRequest("POST", "/checkout", nil)
	case CriticalityPrefetch:
		r := httptest.NewRequest("GET", "/products/7", nil)
		r.Header.Set("Sec-Purpose", "prefetch")
		return r
	case CriticalityExempt:
		return httptest.NewRequest("GET", "/healthz", nil)
	}
	return httptest.NewRequest("GET", "/", nil)
}

func TestDefaultCriticality(t *testing.T) {
	for _, c := range []Criticality{CriticalityCheckout, CriticalityBrowsing, CriticalityPrefetch, CriticalityExempt} {
		if got := DefaultCriticality(request(c)); got != c {
			t.Errorf("got %d, want %d", got, c)
		}
	}
}

func TestLeastImportantIsShedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int64
		s := mustShed(t, Shedding{Limit: fixed(100), OnShed: func(context.Context, Criticality) { told.Add(1) }})
		h := s.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(100 * time.Millisecond) }))
		refused := map[Criticality]int{}
		var mu sync.Mutex
		var clients sync.WaitGroup
		for i := range 20_000 { // 2,000 a second where 1,000 can be served: 400 checkouts, 1,000 browsing, 600 prefetching
			c := CriticalityBrowsing
			switch {
			case i%10 < 2:
				c = CriticalityCheckout
			case i%10 > 6:
				c = CriticalityPrefetch
			}
			clients.Go(func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request(c))
				if w.Code == http.StatusServiceUnavailable {
					mu.Lock()
					defer mu.Unlock()
					refused[c]++
					if w.Header().Get("Retry-After") != "1" {
						t.Error("no Retry-After")
					}
				}
			})
			time.Sleep(500 * time.Microsecond)
		}
		clients.Wait()
		share := func(c Criticality, offered int) float64 { return float64(refused[c]) / float64(offered) }
		checkout, browsing, prefetch := share(0, 4000), share(1, 10_000), share(2, 6000)
		if checkout > 0.01 || browsing < 0.1 || browsing > 0.6 || prefetch < 0.9 {
			t.Errorf("refused %.2f of checkouts, %.2f of browsing, %.2f of prefetching", checkout, browsing, prefetch)
		}
		state := s.State()
		if state.InFlight != 0 || state.Shed[0]+state.Shed[1]+state.Shed[2] != uint64(told.Load()) {
			t.Errorf("state %+v, told of %d", state, told.Load())
		}
	})
}

func TestHealthIsNeverShed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustShed(t, Shedding{Limit: fixed(1)})
		h := s.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/healthz" {
				time.Sleep(time.Second)
			}
		}))
		go h.ServeHTTP(httptest.NewRecorder(), request(CriticalityCheckout))
		synctest.Wait()
		for c, want := range map[Criticality]int{CriticalityExempt: 200, CriticalityCheckout: 503, CriticalityPrefetch: 503} {
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, request(c)); w.Code != want {
				t.Errorf("criticality %d: status %d, want %d", c, w.Code, want)
			}
		}
		time.Sleep(time.Second)
	})
}

func TestHandlerThatPanicsGivesItsPlaceBack(t *testing.T) {
	s := mustShed(t, Shedding{Limit: fixed(2)})
	h := s.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	for range 10 {
		surviving(func() { h.ServeHTTP(httptest.NewRecorder(), request(CriticalityBrowsing)) })
	}
	if n := s.State().InFlight; n != 0 {
		t.Errorf("%d in flight", n)
	}
}

func TestRefusalCanBeAnyAnswer(t *testing.T) {
	s := mustShed(t, Shedding{Limit: fixed(1), RetryAfter: 7 * time.Second, Refuse: func(w http.ResponseWriter, _ *http.Request, why *Rejected) {
		if why.RetryAfter != 7*time.Second || why.Outcome != OutcomeRejectedLimit {
			t.Errorf("refused with %v", why)
		}
		w.WriteHeader(http.StatusTooManyRequests)
	}})
	var inner *httptest.ResponseRecorder
	var h http.Handler
	h = s.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if inner == nil { // while this one is served, another comes
			inner = httptest.NewRecorder()
			h.ServeHTTP(inner, request(CriticalityBrowsing))
		}
	}))
	h.ServeHTTP(httptest.NewRecorder(), request(CriticalityBrowsing))
	if inner.Code != http.StatusTooManyRequests {
		t.Errorf("status %d", inner.Code)
	}
}

func TestShedderLearnsFromLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustShed(t, Shedding{Limit: Adaptive{Min: 4, Max: 100}})
		pace := 20 * time.Millisecond
		h := s.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(pace) }))
		run := func(n int) {
			var clients sync.WaitGroup
			for range n {
				clients.Go(func() { h.ServeHTTP(httptest.NewRecorder(), request(CriticalityCheckout)) })
				time.Sleep(time.Millisecond)
			}
			clients.Wait()
		}
		run(2000)
		pace = 400 * time.Millisecond
		run(2000)
		if limit := s.State().Limit; limit > 51 {
			t.Errorf("the limit is %d of 100 though everything is slow", limit)
		}
	})
}

// Who hangs up ends early or late for reasons of his own: how long that took says nothing about the server.
func TestClientsWhoHangUpTeachTheShedderNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustShed(t, Shedding{Limit: Adaptive{Min: 4, Max: 100}})
		pace := 20 * time.Millisecond
		h := s.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(pace) }))
		run := func(ctx context.Context) {
			var clients sync.WaitGroup
			for range 2000 {
				clients.Go(func() { h.ServeHTTP(httptest.NewRecorder(), request(CriticalityCheckout).WithContext(ctx)) })
				time.Sleep(time.Millisecond)
			}
			clients.Wait()
		}
		run(t.Context())
		before := s.State().Limit
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		pace = 400 * time.Millisecond
		run(gone)
		if after := s.State().Limit; after != before {
			t.Errorf("the limit was %d and is %d", before, after)
		}
	})
}

func TestShedderNeedsALimit(t *testing.T) {
	for _, cfg := range []Shedding{{}, {Limit: Adaptive{Min: 5, Max: 2}}} {
		if _, err := NewShedder("shop", cfg); err == nil {
			t.Errorf("accepted %+v", cfg)
		}
	}
}
