package service

import (
	"encoding/hex"
	"log/slog"
	"testing"

	"watertight.example/pkg/resilience"
)

func TestLogLinesSayWhoseRequestItIs(t *testing.T) {
	var out testLog
	log := newLogger(&out, "shop", slog.LevelInfo).With("part", "cart")
	trace := resilience.NewTrace()
	ctx := resilience.ContextWithTrace(withScope(t.Context(), &scope{service: &Service{Log: log}, requestID: "r-1"}), trace)
	log.InfoContext(ctx, "inside")
	log.Info("outside")
	log.Debug("silent")

	inside := out.lines("inside")[0]
	for key, want := range map[string]any{"service": "shop", "part": "cart", "request_id": "r-1",
		"trace_id": hex.EncodeToString(trace.ID[:]), "span_id": hex.EncodeToString(trace.Span[:])} {
		if inside[key] != want {
			t.Errorf("%s is %v, want %v", key, inside[key], want)
		}
	}
	outside := out.lines("outside")[0]
	if outside["request_id"] != nil || outside["trace_id"] != nil || outside["service"] != "shop" {
		t.Errorf("outside a request: %v", outside)
	}
	if out.count("silent") != 0 {
		t.Error("the level is ignored")
	}
}
