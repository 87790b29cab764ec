package service

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"

	"watertight.example/pkg/resilience"
)

func TestRequestIDIsAcceptedWhenSane(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Get("/", ok)
	for _, c := range []struct {
		id   string
		kept bool
	}{
		{"abc-123_X.y:z", true}, {strings.Repeat("a", 128), true},
		{"", false}, {strings.Repeat("a", 129), false}, {"a b", false}, {"a\nb", false}, {`a"b`, false}, {"<script>", false}, {"ä", false}, {"a;b", false},
	} {
		got := s.ask("GET", "/", headerRequestID, c.id).Header().Get(headerRequestID)
		if (got == c.id) != c.kept || got == "" {
			t.Errorf("%q: answered with %q", c.id, got)
		}
	}
	if a, b := s.ask("GET", "/").Header().Get(headerRequestID), s.ask("GET", "/").Header().Get(headerRequestID); a == b {
		t.Errorf("two requests with one id: %s", a)
	}
}

func TestTraceIsContinuedWithASpanOfOurOwn(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for _, c := range []struct {
		name, header string
		edge         bool
		continued    bool
		flags        byte
	}{
		{"inside", "00-" + id + "-" + span + "-01", false, true, 1},
		{"edge: flag is not believed", "00-" + id + "-" + span + "-01", true, true, 0},
		{"none", "", false, false, 1},
		{"garbage", "hello", false, false, 1},
		{"upper case", "00-" + strings.ToUpper(id) + "-" + span + "-01", false, false, 1},
		{"zero id", "00-" + strings.Repeat("0", 32) + "-" + span + "-01", false, false, 1},
		{"version ff", "ff-" + id + "-" + span + "-01", false, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := newTestService(t, Program{Edge: c.edge})
			var got resilience.Trace
			s.Router.Get("/", func(_ http.ResponseWriter, r *http.Request) { got, _ = resilience.TraceFromContext(r.Context()) })
			s.ask("GET", "/", "Traceparent", c.header)
			if (hex.EncodeToString(got.ID[:]) == id) != c.continued {
				t.Errorf("trace id %x", got.ID)
			}
			if hex.EncodeToString(got.Span[:]) == span || got.Span == [8]byte{} {
				t.Errorf("span %x is not our own", got.Span)
			}
			if got.Flags != c.flags {
				t.Errorf("flags %x, want %x", got.Flags, c.flags)
			}
		})
	}
}

func TestEdgeBelievesNoClaims(t *testing.T) {
	for _, edge := range []bool{true, false} {
		s, _ := newTestService(t, Program{Edge: edge})
		var seen http.Header
		s.Router.Get("/", func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Clone() })
		w := s.ask("GET", "/", headerCustomerID, "somebody", resilience.HeaderTimeout, "900", resilience.HeaderAttempt, "2")
		for _, name := range []string{headerCustomerID, resilience.HeaderTimeout, resilience.HeaderAttempt} {
			if (seen.Get(name) == "") != edge {
				t.Errorf("edge=%v: the handler sees %s %q", edge, name, seen.Get(name))
			}
		}
		if w.Code != 200 {
			t.Errorf("edge=%v: %d", edge, w.Code)
		}
	}
}

func TestStandardHeadersAreOnEveryAnswer(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Headers.Set("Content-Security-Policy", "default-src 'none'")
	s.Headers["X-Many"] = append(make([]string, 0, 8), "ours") // room to write into
	s.Router.Get("/", func(w http.ResponseWriter, _ *http.Request) { w.Header().Add("X-Many", "theirs") })
	s.Router.Get("/panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	for _, path := range []string{"/", "/panic", "/nowhere", "/healthz", "/readyz"} {
		h := s.ask("GET", path).Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") == "" || h.Get(headerRequestID) == "" {
			t.Errorf("%s: %v", path, h)
		}
	}
	if kept := s.Headers["X-Many"][:2]; !slices.Equal(kept, []string{"ours", ""}) {
		t.Errorf("a handler wrote into the shared headers: %q", kept)
	}
}
