package service

import (
	"context"
	"log/slog"
)

// scope is what a request carries in its context for the package's own use. Only the request's own goroutine writes it.
type scope struct {
	service   *Service
	requestID string
	degraded  bool     // the answer lacks a part
	problem   *Problem // the answer, if it was one: its cause goes into the request's log line
}

type scopeKey struct{}

func withScope(ctx context.Context, sc *scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, sc)
}

// scopeOf returns the request's scope. A handler called without the chassis, as in a unit test, gets one that logs to
// slog's default and answers JSON.
func scopeOf(ctx context.Context) *scope {
	if sc, ok := ctx.Value(scopeKey{}).(*scope); ok {
		return sc
	}
	return &scope{service: &Service{Log: slog.Default()}}
}

// RequestID returns the id of the request ctx belongs to, "" outside of one. It is in every log line, in X-Request-Id of the
// answer, and in every problem.
func RequestID(ctx context.Context) string { return scopeOf(ctx).requestID }
