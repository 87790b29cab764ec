package resilience

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
)

// HeaderTraceparent carries a Trace (W3C Trace Context, level 1).
const HeaderTraceparent = "Traceparent"

// Trace names a request across all services it touches.
type Trace struct {
	ID    [16]byte // of the whole request
	Span  [8]byte  // of one step of it
	Flags byte     // 1: sampled
}

var errTraceparent = errors.New("not a traceparent of version 00")

// ParseTraceparent reads a traceparent header: version 00, lower case, ids that are not all zero. On an error start a new trace;
// a request never fails for its trace.
func ParseTraceparent(s string) (Trace, error) {
	var t Trace
	if len(s) != 55 || s[:3] != "00-" || s[35] != '-' || s[52] != '-' {
		return Trace{}, errTraceparent
	}
	var flags [1]byte
	if !unhex(t.ID[:], s[3:35]) || !unhex(t.Span[:], s[36:52]) || !unhex(flags[:], s[53:]) {
		return Trace{}, errTraceparent
	}
	if t.ID == [16]byte{} || t.Span == [8]byte{} {
		return Trace{}, errTraceparent
	}
	t.Flags = flags[0]
	return t, nil
}

// unhex decodes lower-case hex, the only one the standard allows.
func unhex(dst []byte, src string) bool {
	for _, c := range []byte(src) {
		if c >= 'A' && c <= 'F' {
			return false
		}
	}
	_, err := hex.Decode(dst, []byte(src))
	return err == nil
}

// NewTrace starts a trace with random ids, sampled.
func NewTrace() Trace {
	t := Trace{Flags: 1}
	rand.Read(t.ID[:]) // never fails (since Go 1.24)
	return t.Child()
}

// Child returns the same trace with a span of its own.
func (t Trace) Child() Trace {
	rand.Read(t.Span[:])
	return t
}

// String formats t as a traceparent header.
func (t Trace) String() string {
	b := make([]byte, 0, 55)
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, t.ID[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, t.Span[:])
	b = append(b, '-')
	return string(hex.AppendEncode(b, []byte{t.Flags}))
}

type traceKey struct{}

// carried is a trace in a context.
type carried struct {
	Trace
	span bool // somebody records this very span
}

// ContextWithTrace returns a context that carries t. Each request that goes out gets a span of its own in it, so that retries can
// be told apart.
func ContextWithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, carried{Trace: t})
}

// ContextWithSpan returns a context that carries t, for an observer that records spans: requests that go out name this span as
// the one they come from, instead of one that nobody has heard of.
func ContextWithSpan(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, carried{t, true})
}

// TraceFromContext returns the trace that ctx carries.
func TraceFromContext(ctx context.Context) (Trace, bool) {
	c, ok := ctx.Value(traceKey{}).(carried)
	return c.Trace, ok
}

// spanFor returns the span of one outgoing request.
func spanFor(ctx context.Context) Trace {
	c, ok := ctx.Value(traceKey{}).(carried)
	switch {
	case !ok:
		return NewTrace()
	case c.span:
		return c.Trace
	}
	return c.Child()
}
