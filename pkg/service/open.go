package service

import (
	"net/http"
	"slices"

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
		ctx = resilience.ContextWithTrace(ctx, s.traceOf(r))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// dropClaims removes what only our own services may say.
func dropClaims(h http.Header) {
	for _, name := range []string{headerCustomerID, resilience.HeaderTimeout, resilience.HeaderAttempt} {
		h.Del(name)
	}
}

// traceOf continues the caller's trace (W3C traceparent) with a span of our own; on any doubt it starts a new one. At the edge
// the sampled flag is not believed: strangers would switch on our tracing.
func (s *Service) traceOf(r *http.Request) resilience.Trace {
	values := r.Header.Values("Traceparent")
	if len(values) != 1 {
		return resilience.NewTrace()
	}
	trace, err := resilience.ParseTraceparent(values[0])
	if err != nil {
		return resilience.NewTrace()
	}
	if s.edge {
		trace.Flags = 0
	}
	return trace.Child()
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
