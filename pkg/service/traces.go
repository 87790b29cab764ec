package service

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"watertight.example/pkg/resilience"
)

// flushTimeout bounds the last export at the stop. It is well below stopTimeout: spans are the least that a stop waits for.
const flushTimeout = 500 * time.Millisecond

// traces records spans: one for each request, one for each call of a dependency, one for each attempt of it. It is nil where no collector
// is named, and then its methods do nothing and cost nothing.
//
// Nothing in it is global: two services in one process have two of them.
type traces struct{ tracer trace.Tracer }

// startTraces begins to export spans, if anybody wants them. Requests never wait for it: finished spans go into a bounded queue that
// one goroutine empties, and what does not fit is dropped.
func (s *Service) startTraces() error {
	cfg := &s.base.Traces
	target := cfg.target()
	if target == "" {
		return nil
	}
	sampler, err := cfg.sampler()
	if err != nil {
		s.Log.Warn("traces", "error", err)
	}
	sender, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(target))
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	life, giveUp := context.WithCancel(context.Background())
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&exporter{SpanExporter: sender, log: s.Log, life: life}),
		sdktrace.WithResource(s.traceResource(cfg)),
		sdktrace.WithSampler(strangersDice{sampler}),
		sdktrace.WithIDGenerator(requestIDs{}),
	)
	s.traces = &traces{tracer: provider.Tracer("watertight.example/pkg/service")}
	s.OnStop("traces", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		defer giveUp()
		if err := provider.Shutdown(ctx); err != nil {
			s.Log.Warn("the last traces are lost", "error", err) // and that is all: a stop does not fail for them
		}
		return nil
	})
	s.Log.Info("traces", "to", shown(target), "sampler", sampler.Description())
	return nil
}

// traceResource says who the spans are from. Later parts win: the standard's variables over the service's own name.
func (s *Service) traceResource(cfg *TraceConfig) *resource.Resource {
	name := func(name string) resource.Option {
		return resource.WithAttributes(attribute.String("service.name", name))
	}
	options := []resource.Option{resource.WithTelemetrySDK(), resource.WithHost(), name(s.Name), resource.WithFromEnv()}
	if cfg.ServiceName != "" {
		options = append(options, name(cfg.ServiceName))
	}
	res, err := resource.New(context.Background(), options...)
	if err != nil { // a part of it is missing, such as OTEL_RESOURCE_ATTRIBUTES with a typing error
		s.Log.Warn("traces", "error", err)
	}
	return res
}

// requestIDs gives a trace that begins with a request the ids that the request has already: logs, exemplars and answers name them.
type requestIDs struct{}

func (requestIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	t, ok := resilience.TraceFromContext(ctx)
	if !ok {
		t = resilience.NewTrace()
	}
	return t.ID, t.Span
}

func (requestIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	return resilience.Trace{}.Child().Span
}

// strangersDice samples the traces of strangers, who have chosen their ids, by other ids: or whoever picks a low one would always be
// recorded, where a ratio of all ids is.
type strangersDice struct{ sdktrace.Sampler }

func (d strangersDice) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if !trace.SpanContextFromContext(p.ParentContext).IsValid() {
		if t, ok := resilience.TraceFromContext(p.ParentContext); ok && t.Flags == 0 { // see Service.trace
			p.TraceID = resilience.NewTrace().ID
		}
	}
	return d.Sampler.ShouldSample(p)
}
