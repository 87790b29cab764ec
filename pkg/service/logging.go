package service

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"

	"watertight.example/pkg/resilience"
)

// newLogger writes one JSON object a line, with the service's name and what the context knows about the request.
func newLogger(w io.Writer, name string, level slog.Level) *slog.Logger {
	return slog.New(contextHandler{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})}).With("service", name)
}

// contextHandler adds request_id, trace_id, span_id and, inside a second attempt at a dependency, its number. That is why every log call in
// a request must use the ...Context methods.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := RequestID(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if trace, ok := resilience.TraceFromContext(ctx); ok {
		record.AddAttrs(slog.String("trace_id", hex.EncodeToString(trace.ID[:])), slog.String("span_id", hex.EncodeToString(trace.Span[:])))
	}
	if attempt := resilience.AttemptFromContext(ctx); attempt > 1 {
		record.AddAttrs(slog.Int("attempt", attempt))
	}
	return h.Handler.Handle(ctx, record)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
