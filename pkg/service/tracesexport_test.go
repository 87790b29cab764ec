package service

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"
)

// brokenExporter loses everything.
type brokenExporter struct{ sdktrace.SpanExporter }

func (brokenExporter) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("connection refused")
}

func TestDeadCollectorIsLoggedOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newTestService(t, Program{})
		e := &exporter{SpanExporter: brokenExporter{}, log: s.Log, life: t.Context()}
		for range 150 { // five minutes
			if err := e.ExportSpans(t.Context(), make([]sdktrace.ReadOnlySpan, 10)); err != nil {
				t.Errorf("the SDK would print %v", err)
			}
			time.Sleep(2 * time.Second)
		}
		lines := log.lines("traces are lost")
		if len(lines) != 5 {
			t.Fatalf("%d lines in five minutes, want 5", len(lines))
		}
		if lines[0]["spans"] != 10.0 || lines[1]["spans"] != 300.0 || lines[1]["error"] != "connection refused" {
			t.Errorf("got %v", lines)
		}
	})
}

func TestDeadCollectorCostsNothing(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close() // nobody listens there now
	s, log, stop := newTracedService(t, Program{}, dead.URL)
	s.Router.Get("/", ok)
	for range 600 { // more than one batch
		if w := s.ask("GET", "/"); w.Code != http.StatusOK {
			t.Fatalf("answered %d", w.Code)
		}
	}
	stop()
	if n := log.count("traces are lost"); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// A collector that takes the connection and never answers holds up a stop by flushTimeout, and nothing is left behind.
func TestHangingCollectorDoesNotHoldUpTheStop(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	asked := make(chan struct{}, 10)
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the client has left
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer hanging.Close()
	s, log, _ := newTracedService(t, Program{}, hanging.URL)
	s.Router.Get("/", ok)
	s.ask("GET", "/")
	begin := time.Now()
	if err := s.runStops(); err != nil {
		t.Errorf("the stop fails for traces: %v", err)
	}
	if took := time.Since(begin); took > stopTimeout {
		t.Errorf("the stop took %v", took)
	}
	if len(asked) != 1 || log.count("the last traces are lost") != 1 {
		t.Errorf("asked %d times; %s", len(asked), log)
	}
}
