package service

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
)

const headerRequestID = "X-Request-Id"

// open gives a request its id, its trace and the answer's standard headers.
func (s *Service) open(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.edge {
			dropClaims(r.Header)
		}
		id := r.Header.Get(headerRequestID)
		if !saneRequestID(id) {
			id = uuid.NewString()
		}
		for name, values := range s.Headers {
			w.Header()[name] = slices.Clip(values) // an Add by a handler must copy, not write into ours
		}
		w.Header().Set(headerRequestID, id)
		ctx := withScope(r.Context(), &scope{service: s, requestID: id})
		next.ServeHTTP(w, r.WithContext(s.trace(ctx, r)))
	})
}

// dropClaims removes what only our own services may say.
func dropClaims(h http.Header) {
	for _, name := range []string{headerCustomerID, resilience.HeaderTimeout, resilience.HeaderAttempt} {
		h.Del(name)
	}
}

// trace continues the caller's trace (W3C traceparent) with a span of our own; on any doubt it starts a new one. At the edge
// the sampled flag is not believed: strangers would switch our tracing on, or off. There the id is kept, so that their logs and ours can be
// matched, and our sampler decides as for a trace that begins here.
func (s *Service) trace(ctx context.Context, r *http.Request) context.Context {
	caller, err := resilience.ParseTraceparent(strings.Join(r.Header.Values(resilience.HeaderTraceparent), ",")) // two are a doubt, too
	switch {
	case err != nil:
		return s.traces.request(resilience.ContextWithTrace(ctx, resilience.NewTrace()), r, nil)
	case s.edge:
		ours := caller.Child()
		ours.Flags = 0
		return s.traces.request(resilience.ContextWithTrace(ctx, ours), r, nil)
	}
	return s.traces.request(resilience.ContextWithTrace(ctx, caller.Child()), r, &caller)
}

// saneRequestID accepts 1 to 128 characters that cannot break a log line, a header or a shell.
func saneRequestID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && c != '-' && c != '_' && c != '.' && c != ':' {
			return false
		}
	}
	return true
}
