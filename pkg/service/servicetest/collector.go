package servicetest

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector receives traces by OTLP over HTTP, as a tracing backend does. A service sends its last spans when it stops.
type Collector struct {
	URL string // for OTEL_EXPORTER_OTLP_ENDPOINT

	mu    sync.Mutex
	spans []Span
}

// Span is one step of a trace.
type Span struct {
	Trace, ID, Parent string // hex; Parent is "" at the root
	Service, Name     string
	Error             string // the status's description, if it is an error
	Failed            bool
	Attributes        map[string]any
	begun             uint64
}

// StartCollector starts one, which ends with the test.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var batch collector.ExportTraceServiceRequest
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" ||
		err != nil || proto.Unmarshal(body, &batch) != nil {
		http.Error(w, "no OTLP", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // an empty answer is a whole success
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range batch.ResourceSpans {
		service, _ := attributes(from.Resource.GetAttributes())["service.name"].(string)
		for _, scope := range from.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans = append(c.spans, newSpan(service, span))
			}
		}
	}
}

func newSpan(service string, s *otlp.Span) Span {
	return Span{
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Service: service, Name: s.Name, Error: s.Status.GetMessage(), Failed: s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR,
		Attributes: attributes(s.Attributes), begun: s.StartTimeUnixNano,
	}
}

func attributes(list []*common.KeyValue) map[string]any {
	found := map[string]any{}
	for _, a := range list {
		switch v := a.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			found[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			found[a.Key] = int(v.IntValue)
		case *common.AnyValue_BoolValue:
			found[a.Key] = v.BoolValue
		case *common.AnyValue_ArrayValue:
			var texts []string
			for _, each := range v.ArrayValue.Values {
				texts = append(texts, each.GetStringValue())
			}
			found[a.Key] = strings.Join(texts, ",")
		}
	}
	return found
}

// Spans returns what has come of a trace, the earliest first; of all traces, if it is "".
func (c *Collector) Spans(trace string) (found []Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if trace == "" || s.Trace == trace {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b Span) int { return cmp.Compare(a.begun, b.begun) })
	return found
}

// Tree draws a trace, a line for each span below its parent's, siblings by name and age. A span whose parent has not come stands at the
// left, as the root does.
func (c *Collector) Tree(trace string) string {
	spans := c.Spans(trace)
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Name, b.Name) })
	var tree strings.Builder
	var draw func(parent string, depth int)
	draw = func(parent string, depth int) {
		for _, s := range spans {
			if s.Parent == parent {
				fmt.Fprintf(&tree, "%s%s: %s\n", strings.Repeat("  ", depth), s.Service, s)
				draw(s.ID, depth+1)
			}
		}
	}
	for _, s := range spans {
		if !slices.ContainsFunc(spans, func(p Span) bool { return p.ID == s.Parent }) {
			fmt.Fprintf(&tree, "%s: %s\n", s.Service, s)
			draw(s.ID, 1)
		}
	}
	return tree.String()
}

// String tells what a span was and what became of it, in a few words.
func (s Span) String() string {
	words := []string{s.Name}
	if n, ok := s.Attributes["watertight.attempt"]; ok {
		words = append(words, fmt.Sprint(n))
	}
	for _, flag := range []string{"hedge", "cancelled_loser"} {
		if s.Attributes["watertight."+flag] == true {
			words = append(words, flag)
		}
	}
	for _, key := range []string{"watertight.outcome", "http.response.status_code"} {
		if v, ok := s.Attributes[key]; ok {
			words = append(words, fmt.Sprint(v))
		}
	}
	return strings.Join(words, " ")
}
