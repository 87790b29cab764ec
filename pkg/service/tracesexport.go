package service

import (
	"context"
	"log/slog"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// exportNews is how often the log says that traces are being lost.
const exportNews = time.Minute

// exporter sends batches of spans, and loses them when it cannot. The SDK would report each failure to a handler that is global to the
// process and prints plain text. It is called by one goroutine at a time.
type exporter struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	life context.Context // ends when the stop has waited long enough; the SDK's own lasts 30 s

	lost int       // since the log told of it last
	told time.Time // when that was
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.tell(len(spans), err)
	}
	return nil
}

func (e *exporter) tell(lost int, err error) {
	e.lost += lost
	if now := time.Now(); e.told.IsZero() || now.Sub(e.told) >= exportNews {
		e.log.Warn("traces are lost", "spans", e.lost, "error", err)
		e.lost, e.told = 0, now
	}
}
