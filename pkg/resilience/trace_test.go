package resilience

import (
	"net/http"
	"strings"
	"testing"
)

const someTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestTraceparentRoundTrip(t *testing.T) {
	tr, err := ParseTraceparent(someTraceparent)
	if err != nil || tr.String() != someTraceparent {
		t.Errorf("%v, %v", tr, err)
	}
	child := tr.Child()
	if child.ID != tr.ID || child.Span == tr.Span || child.Flags != tr.Flags {
		t.Errorf("child %v of %v", child, tr)
	}
	if fresh, err := ParseTraceparent(NewTrace().String()); err != nil || fresh.Flags != 1 {
		t.Errorf("a new trace is not valid: %v", err)
	}
}

func TestBadTraceparents(t *testing.T) {
	for _, s := range []string{
		"", "00", strings.ToUpper(someTraceparent), "ff" + someTraceparent[2:], "01" + someTraceparent[2:], someTraceparent + "-x",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	} {
		if tr, err := ParseTraceparent(s); err == nil {
			t.Errorf("ParseTraceparent(%q) = %v, want an error", s, tr)
		}
	}
}

func TestTraceInContext(t *testing.T) {
	if _, ok := TraceFromContext(t.Context()); ok {
		t.Error("a trace from nowhere")
	}
	tr := NewTrace()
	if got, ok := TraceFromContext(ContextWithTrace(t.Context(), tr)); !ok || got != tr {
		t.Errorf("%v, %v", got, ok)
	}
}

// A span that an observer records is the one the next hop must name as its parent; nobody knows a child of it.
func TestRecordedSpanGoesOutAsItIs(t *testing.T) {
	trace := NewTrace()
	ctx := ContextWithSpan(t.Context(), trace)
	if got, ok := TraceFromContext(ctx); !ok || got != trace {
		t.Errorf("%v, %v", got, ok)
	}
	var sent string
	d := withTransport(mustNew(t, Config{}, nil), func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get(HeaderTraceparent)
		return answer(http.StatusOK), nil
	})
	if _, err := Call(ctx, d, get(d, "http://upstream/")); err != nil || sent != trace.String() {
		t.Errorf("sent %q, want %q (%v)", sent, trace, err)
	}
}

func FuzzParseTraceparent(f *testing.F) {
	f.Add(someTraceparent)
	f.Add(strings.ToUpper(someTraceparent))
	f.Fuzz(func(t *testing.T, s string) {
		if tr, err := ParseTraceparent(s); err == nil && tr.String() != s {
			t.Errorf("%q becomes %q", s, tr)
		}
	})
}
