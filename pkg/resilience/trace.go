package resilience

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
)

// Trace is a W3C trace context (traceparent, version 00).
type Trace struct {
	ID    [16]byte
	Span  [8]byte
	Flags byte
}

var errTraceparent = errors.New("malformed traceparent")

// ParseTraceparent reads a traceparent header. It accepts version 00 in lower case with ids that are not all zero.
func ParseTraceparent(s string) (Trace, error) {
	var t Trace
	if len(s) != 55 || s[:3] != "00-" || s[35] != '-' || s[52] != '-' {
		return Trace{}, errTraceparent
	}
	var flags [1]byte
	for _, f := range []struct {
		dst []byte
		src string
	}{{t.ID[:], s[3:35]}, {t.Span[:], s[36:52]}, {flags[:], s[53:]}} {
		for i := range len(f.src) {
			if c := f.src[i]; c >= 'A' && c <= 'F' {
				return Trace{}, errTraceparent
			}
		}
		if _, err := hex.Decode(f.dst, []byte(f.src)); err != nil {
			return Trace{}, errTraceparent
		}
	}
	if t.ID == [16]byte{} || t.Span == [8]byte{} {
		return Trace{}, errTraceparent
	}
	t.Flags = flags[0]
	return t, nil
}

// NewTrace starts a trace with random ids, sampled.
func NewTrace() Trace {
	t := Trace{Flags: 1}
	rand.Read(t.ID[:])
	rand.Read(t.Span[:])
	return t
}

// Child returns the same trace with a new span id.
func (t Trace) Child() Trace {
	rand.Read(t.Span[:])
	return t
}

// String formats t as a traceparent header.
func (t Trace) String() string { return fmt.Sprintf("00-%x-%x-%02x", t.ID, t.Span, t.Flags) }

type traceKey struct{}

// ContextWithTrace returns a context that carries t.
func ContextWithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceFromContext returns the trace ctx carries.
func TraceFromContext(ctx context.Context) (Trace, bool) {
	t, ok := ctx.Value(traceKey{}).(Trace)
	return t, ok
}
