package service

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service/servicetest"
)

func TestRequestIsASpan(t *testing.T) {
	c := servicetest.StartCollector(t)
	s, log, stop := newTracedService(t, Program{Name: "shop"}, c.URL, "OTEL_SERVICE_NAME", "shop-2")
	s.Router.Get("/products/{id}", func(_ http.ResponseWriter, r *http.Request) {
		s.Log.InfoContext(r.Context(), "inside")
		s.Degraded(r, "stale", "price", "stock")
	})
	s.Router.Get("/broken", Handle(func(http.ResponseWriter, *http.Request) error { return errors.New("no idea") }))
	s.ask("GET", "/products/42", "Traceparent", "00-"+testTrace+"-b7ad6b7169203331-01", headerRequestID, "r-1")
	s.ask("GET", "/broken")
	s.ask("GET", "/healthz")
	s.ask("GET", "/readyz")
	stop()
	spans := c.Spans("")
	if len(spans) != 2 {
		t.Fatalf("%d spans, want one for each request that is no probe: %v", len(spans), spans)
	}
	page, broken := spans[0], spans[1]
	if page.Trace != testTrace || page.Parent != "b7ad6b7169203331" || page.Name != "GET /products/{id}" || page.Service != "shop-2" || page.Failed {
		t.Errorf("got %+v", page)
	}
	for key, want := range map[string]any{
		"http.route": "/products/{id}", "http.request.method": "GET", "http.response.status_code": 200, "watertight.request_id": "r-1",
		"watertight.degraded.reason": "stale", "watertight.degraded.parts": "price,stock",
	} {
		if page.Attributes[key] != want {
			t.Errorf("%s is %v, want %v", key, page.Attributes[key], want)
		}
	}
	if !broken.Failed || !strings.Contains(broken.Error, "no idea") || broken.Attributes["watertight.problem"] != "/problems/internal" || broken.Parent != "" {
		t.Errorf("got %+v", broken)
	}
	if line := log.lines("inside")[0]; line["trace_id"] != page.Trace || line["span_id"] != page.ID {
		t.Errorf("the log names trace %v and span %v, the trace %s and %s", line["trace_id"], line["span_id"], page.Trace, page.ID)
	}
	if line := log.lines("request")[1]; line["trace_id"] != broken.Trace || line["span_id"] != broken.ID {
		t.Errorf("a trace that begins here has other ids in the log: %v", line)
	}
}

// What strangers say about sampling is not believed, neither in the flag nor in an id of their choice; the id itself is kept.
func TestStrangersDoNotChooseWhatIsTraced(t *testing.T) {
	lowest := strings.Repeat("0", 31) + "1" // sampled by every ratio above zero
	highest := strings.Repeat("f", 32)      // by none below one
	for _, c := range []struct {
		name, sampler, ratio, header string
		edge                         bool
		traced                       bool
	}{
		{"edge, switched on", "parentbased_always_off", "", testTrace + "-b7ad6b7169203331-01", true, false},
		{"edge, switched off", "", "", testTrace + "-b7ad6b7169203331-00", true, true},
		{"edge, an id that is always sampled", "parentbased_traceidratio", "0.0000001", lowest + "-b7ad6b7169203331-01", true, false},
		{"edge, an id that never is", "parentbased_traceidratio", "0.9999999", highest + "-b7ad6b7169203331-00", true, true},
		{"inside, switched on", "parentbased_always_off", "", testTrace + "-b7ad6b7169203331-01", false, true},
		{"inside, switched off", "", "", testTrace + "-b7ad6b7169203331-00", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			collector := servicetest.StartCollector(t)
			s, _, stop := newTracedService(t, Program{Edge: c.edge}, collector.URL, "OTEL_TRACES_SAMPLER", c.sampler, "OTEL_TRACES_SAMPLER_ARG", c.ratio)
			var inside resilience.Trace
			s.Router.Get("/", func(_ http.ResponseWriter, r *http.Request) { inside, _ = resilience.TraceFromContext(r.Context()) })
			s.ask("GET", "/", "Traceparent", "00-"+c.header)
			stop()
			if id := hex.EncodeToString(inside.ID[:]); id != c.header[:32] || inside.Flags&1 == 1 != c.traced {
				t.Errorf("inside it is trace %s with flags %x", id, inside.Flags)
			}
			spans := collector.Spans("")
			if (len(spans) == 1) != c.traced {
				t.Fatalf("%d spans", len(spans))
			}
			if c.traced && (spans[0].Trace != c.header[:32] || (spans[0].Parent == "") != c.edge) {
				t.Errorf("got %+v; at the edge a stranger's span is nobody's parent", spans[0])
			}
		})
	}
}

func TestRetriesAreToldApart(t *testing.T) {
	c := servicetest.StartCollector(t)
	below, _, stopBelow := newTracedService(t, Program{Name: "pricing"}, c.URL)
	below.Router.Get("/prices", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(resilience.HeaderAttempt) == "1" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	server := httptest.NewServer(below.root)
	defer server.Close()
	s, _, stop := newTracedService(t, Program{Name: "shop"}, c.URL)
	d, err := s.Dependency("pricing", resilience.Config{
		Timeout: resilience.Timeout{Total: time.Minute, Attempt: 10 * time.Second}, Retry: resilience.Retry{Max: 1, Base: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Router.Get("/", Handle(func(_ http.ResponseWriter, r *http.Request) error {
		return resilience.Do(r.Context(), d, func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/prices", nil)
			if err != nil {
				return err
			}
			return CallJSON(d.HTTPClient(), req, nil)
		})
	}))
	s.ask("GET", "/", "Traceparent", "00-"+testTrace+"-b7ad6b7169203331-01")
	stop()
	stopBelow()
	wantTree(t, c, testTrace, `
shop: GET / 200
  shop: pricing success
    shop: pricing attempt 1 failure
      pricing: GET /prices 503
    shop: pricing attempt 2 success
      pricing: GET /prices 200
`)
}

func TestHedgeAndItsLoserAreToldApart(t *testing.T) {
	c := servicetest.StartCollector(t)
	s, _, stop := newTracedService(t, Program{Name: "shop"}, c.URL)
	d, err := s.Dependency("replica", resilience.Config{
		Timeout: resilience.Timeout{Total: time.Minute},
		Hedge:   resilience.Hedge{MaxRatio: 0.05, Idempotent: true, MinSamples: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // the cap is a share of the calls
		_ = resilience.Do(t.Context(), d, func(context.Context) error { return nil })
	}
	s.Router.Get("/", Handle(func(_ http.ResponseWriter, r *http.Request) error {
		return resilience.Do(r.Context(), d, func(ctx context.Context) error {
			if resilience.IsHedge(ctx) {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
	}))
	s.ask("GET", "/", "Traceparent", "00-"+testTrace+"-b7ad6b7169203331-01")
	stop()
	wantTree(t, c, testTrace, `
shop: GET / 200
  shop: replica success
    shop: replica attempt 1 cancelled_loser canceled
    shop: replica attempt 2 hedge success
`)
	for _, span := range c.Spans(testTrace) {
		if span.Failed {
			t.Errorf("%s is an error: %s; losing is none", span, span.Error)
		}
	}
}

func TestRefusalIsACallWithoutAttempt(t *testing.T) {
	c := servicetest.StartCollector(t)
	s, _, stop := newTracedService(t, Program{Name: "shop"}, c.URL)
	d := newTestDependency(t, s, testPolicy())
	d.ForceOpen("", 0)
	_ = resilience.Do(t.Context(), d, func(context.Context) error { return nil })
	stop()
	if spans := c.Spans(""); len(spans) != 1 || spans[0].String() != "pricing rejected_open" || !spans[0].Failed || spans[0].Parent != "" {
		t.Errorf("got %+v", spans)
	}
}
