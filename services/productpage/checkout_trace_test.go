package main

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service/servicetest"
)

// TestOneCheckoutIsOneTrace follows a customer through the real services, each a process with a Postgres of its own: the page with its
// price and its stock, which inventory reads from a replica that hangs for a moment, and then the order. What a collector
// receives from all of them is one tree without a loose end.
func TestOneCheckoutIsOneTrace(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20") // ms; of every process, this one included
	collector := servicetest.StartCollector(t)
	shop := startWhole(t, neighbours(t), slowMotion(), map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL})

	b := shop.browser()
	trace := pageWithHedge(t, b, collector, shop.inventory, shop.replica)
	b.buy(t, "/checkout?sku=42&qty=1").want(t, http.StatusOK)

	want := []string{
		"productpage: GET /products/{id} > productpage: pricing > productpage: pricing attempt > pricing: GET /prices > pricing: postgres > pricing: postgres attempt",
		"productpage: GET /products/{id} > productpage: inventory > productpage: inventory attempt > inventory: GET /stock > inventory: postgres-replica > inventory: postgres-primary-reads > inventory: postgres-primary-reads attempt",
		"productpage: GET /checkout > productpage: pricing > productpage: pricing attempt > pricing: POST /quotes",
		"productpage: POST /checkout > productpage: orders > productpage: orders attempt > orders: POST /orders > orders: postgres > orders: postgres attempt",
		"productpage: POST /checkout > productpage: orders > productpage: orders attempt > orders: POST /orders > orders: pricing > orders: pricing attempt > pricing: GET /quotes/{quote_id}",
		"productpage: POST /checkout > productpage: orders > productpage: orders attempt > orders: POST /orders > orders: inventory > orders: inventory attempt > inventory: POST /reservations/{order_id}",
		"productpage: GET /orders/{id} > productpage: orders-reads > productpage: orders-reads attempt > orders: GET /orders/{order_id}",
	}
	untilSpans(t, "the whole tree has come", collector, trace, func(spans []servicetest.Span) bool {
		have := paths(spans)
		return !slices.ContainsFunc(want, func(path string) bool { return !slices.Contains(have, path) }) && !slices.Contains(have, "")
	})
}

// pageWithHedge looks at a product while the replica hangs, until inventory has hedged that read and told it, and returns the trace. From
// then on the browser stays in it. A hedge is never certain: it is a few percent of the reads, and only while all is well.
func pageWithHedge(t *testing.T, b *browser, collector *servicetest.Collector, inventory string, replica *relay) string {
	t.Helper()
	for range 20 {
		for range 150 { // so that inventory knows the replica's usual time; not sampled, as its caller says
			ask(t, inventory+"/stock?sku=42", strings.TrimSuffix(resilience.NewTrace().String(), "1")+"0")
		}
		trace := resilience.NewTrace()
		b.client.Transport = traced{trace}
		flows := replica.hang(40 * time.Millisecond) // the read may take 50
		b.get("/products/42").want(t, http.StatusOK)
		<-flows
		id := hex.EncodeToString(trace.ID[:])
		untilSpans(t, "inventory's part of the page has come", collector, id, func(spans []servicetest.Span) bool {
			return slices.ContainsFunc(spans, func(s servicetest.Span) bool { return s.Name == "GET /stock" })
		})
		tree := collector.Tree(id)
		if strings.Contains(tree, "inventory: postgres-primary-reads attempt 2 hedge success\n") &&
			strings.Contains(tree, "inventory: postgres-replica attempt 1 cancelled_loser canceled\n") {
			return id
		}
		t.Logf("not hedged:\n%s", tree)
	}
	t.Fatal("no read was hedged")
	return ""
}

func ask(t *testing.T, url, traceparent string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(resilience.HeaderTraceparent, traceparent)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// traced sends every request with the same traceparent, as a stranger may.
type traced struct{ resilience.Trace }

func (c traced) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(resilience.HeaderTraceparent, c.String())
	return http.DefaultTransport.RoundTrip(r)
}

// paths names the way from the root to each span; "" is one whose parent is missing.
func paths(spans []servicetest.Span) (found []string) {
	byID := map[string]servicetest.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	for _, s := range spans {
		path := fmt.Sprintf("%s: %s", s.Service, s.Name)
		for s.Parent != "" && path != "" {
			parent, ok := byID[s.Parent]
			path = fmt.Sprintf("%s: %s > %s", parent.Service, parent.Name, path)
			if s = parent; !ok {
				path = ""
			}
		}
		found = append(found, path)
	}
	return found
}

// untilSpans waits for spans, which come a moment after what they tell of.
func untilSpans(t *testing.T, what string, collector *servicetest.Collector, trace string, ok func([]servicetest.Span) bool) {
	t.Helper()
	for limit := time.Now().Add(15 * time.Second); !ok(collector.Spans(trace)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within 15 s: %s; got\n%s", what, collector.Tree(trace))
		}
	}
}
