package service

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"watertight.example/pkg/resilience"
)

// start begins a span and puts it where everything looks for it: the spans below, the log, and the traceparent of the next hop.
func (t *traces) start(ctx context.Context, name string, kind trace.SpanKind, attrs ...attribute.KeyValue) context.Context {
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
	is := span.SpanContext()
	return resilience.ContextWithSpan(ctx, resilience.Trace{ID: is.TraceID(), Span: is.SpanID(), Flags: byte(is.TraceFlags())})
}

// request begins the span of a request. It is a child of the caller's span, if that is one of ours.
func (t *traces) request(ctx context.Context, r *http.Request, caller *resilience.Trace) context.Context {
	if t == nil || r.URL.Path == "/healthz" || r.URL.Path == "/readyz" { // probes come every few seconds and tell nothing
		return ctx
	}
	if caller != nil {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: caller.ID, SpanID: caller.Span, TraceFlags: trace.TraceFlags(caller.Flags), Remote: true,
		}))
	}
	method := methodLabel(r.Method)
	return t.start(ctx, method, trace.SpanKindServer, attribute.String("http.request.method", method),
		attribute.String("watertight.request_id", RequestID(ctx)))
}

// answered ends the span of a request, whose route is known by now. The path is left out: it may hold what only the customer knows.
func (t *traces) answered(r *http.Request, status int) {
	span := t.recording(r.Context())
	if span == nil {
		return
	}
	route := routeOf(r)
	span.SetName(methodLabel(r.Method) + " " + route)
	span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
	problem := scopeOf(r.Context()).problem
	if problem != nil {
		span.SetAttributes(attribute.String("watertight.problem", problem.Type))
	}
	switch {
	case status >= http.StatusInternalServerError && problem != nil:
		span.SetStatus(codes.Error, problem.Error())
	case status >= http.StatusInternalServerError:
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// degraded notes on the span of a request which parts its answer lacks.
func (t *traces) degraded(ctx context.Context, reason string, parts []string) {
	if span := t.recording(ctx); span != nil {
		span.SetAttributes(attribute.String("watertight.degraded.reason", reason), attribute.StringSlice("watertight.degraded.parts", parts))
	}
}

// call begins the span of a call of a dependency, whatever number of attempts it takes.
func (t *traces) call(ctx context.Context, dependency string) context.Context {
	if t == nil {
		return ctx
	}
	return t.start(ctx, dependency, trace.SpanKindInternal, attribute.String("watertight.dependency", dependency))
}

// attempt begins the span of one attempt: retries and hedges are told apart by it, here and at the next hop.
func (t *traces) attempt(ctx context.Context, dependency string, number int) context.Context {
	if t == nil {
		return ctx
	}
	return t.start(ctx, dependency+" attempt", trace.SpanKindClient, attribute.String("watertight.dependency", dependency),
		attribute.Int("watertight.attempt", number), attribute.Bool("watertight.hedge", resilience.IsHedge(ctx)))
}

func (t *traces) called(ctx context.Context, e resilience.CallEvent) {
	span := t.recording(ctx)
	if span == nil {
		return
	}
	span.SetAttributes(attribute.Int("watertight.attempts", e.Attempts))
	if e.Hedge != "" {
		span.SetAttributes(attribute.String("watertight.hedging", string(e.Hedge)))
	}
	end(span, e.Outcome, e.Err)
}

func (t *traces) attempted(ctx context.Context, e resilience.AttemptEvent) {
	span := t.recording(ctx)
	if span == nil {
		return
	}
	span.SetAttributes(attribute.Bool("watertight.cancelled_loser", e.Lost))
	end(span, e.Outcome, e.Err)
}

// end ends a span with its outcome. An error that was an answer ("no such product") is none here, and neither is leaving.
func end(span trace.Span, outcome resilience.Outcome, err error) {
	span.SetAttributes(attribute.String("watertight.outcome", outcome.String()))
	switch outcome {
	case resilience.OutcomeSuccess, resilience.OutcomeSlow, resilience.OutcomeCanceled:
	default:
		why := "panic"
		if err != nil {
			why = err.Error()
		}
		span.SetStatus(codes.Error, why)
	}
	span.End()
}

// recording returns the span of ctx if somebody will see it, else nil.
func (t *traces) recording(ctx context.Context) trace.Span {
	if t == nil {
		return nil
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return span
	}
	return nil
}
