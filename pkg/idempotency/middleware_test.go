package idempotency

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// bank is a handler behind the middleware that answers with status and counts its executions.
type bank struct {
	status   int
	executed int
	panics   bool
}

func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.executed++
	if b.panics {
		panic("boom")
	}
	body, _ := io.ReadAll(r.Body)
	claim := ClaimFrom(r.Context())
	if b.status < 300 {
		StoreWith(r.Context(), effect(claim, "paid"))
	}
	w.Header().Set("Location", "/payments/"+claim.OperationID.String())
	w.WriteHeader(b.status)
	_, _ = w.Write(body)
}

func serve(t *testing.T, h http.Handler, method, key, body string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "/payments", strings.NewReader(body))
	if key != "" {
		r.Header.Set(Header, key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestMiddleware(t *testing.T) {
	s, pool := newStore(t, Config{})
	b := &bank{status: 201}
	h := Middleware{Store: s, Route: "POST /payments", Tenant: func(*http.Request) (string, error) { return "alice", nil }}.Wrap(b)

	first := serve(t, h, "POST", someKey, `{"amount":1,"to":"bob"}`)
	again := serve(t, h, "POST", `"`+someKey+`"`, `{ "to":"bob", "amount":1 }`)
	if first.StatusCode != 201 || again.StatusCode != 201 || first.Header.Get("Location") != again.Header.Get("Location") {
		t.Errorf("first %d %v, replay %d %v", first.StatusCode, first.Header, again.StatusCode, again.Header)
	}
	if first.Header.Get(ReplayedHeader) != "" || again.Header.Get(ReplayedHeader) != "true" {
		t.Error("the replay, and only the replay, must be marked")
	}
	a, _ := io.ReadAll(first.Body)
	c, _ := io.ReadAll(again.Body)
	if string(a) != string(c) || b.executed != 1 || count(t, pool, "effects") != 1 {
		t.Errorf("bodies %q, %q; executed %d times", a, c, b.executed)
	}
	for name, c := range map[string]struct {
		key, body string
		status    int
		problem   string
	}{
		"missing":    {"", `{}`, 400, KeyMissing},
		"short":      {"short", `{}`, 400, KeyInvalid},
		"reused":     {someKey, `{"amount":2,"to":"bob"}`, 422, KeyReused},
		"large body": {"large-0123456789", `"` + strings.Repeat("x", 70<<10) + `"`, 400, "malformed-request"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := serve(t, h, "POST", c.key, c.body)
			var p struct{ Type string }
			if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || resp.StatusCode != c.status || p.Type != "/problems/"+c.problem {
				t.Errorf("%d %q (%v), want %d %s", resp.StatusCode, p.Type, err, c.status, c.problem)
			}
			if resp.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("Content-Type = %q", resp.Header.Get("Content-Type"))
			}
		})
	}
	if count(t, pool, "idempotency_keys") != 1 {
		t.Error("a refused request left a key")
	}
}

func TestMiddlewareReleasesAfterTransientAnswersAndPanics(t *testing.T) {
	s, pool := newStore(t, Config{})
	b := &bank{status: 503}
	h := Middleware{Store: s, Route: "POST /payments", Tenant: func(*http.Request) (string, error) { return "alice", nil }}.Wrap(b)
	if resp := serve(t, h, "POST", someKey, "x"); resp.StatusCode != 503 {
		t.Fatalf("status %d, want the handler's 503", resp.StatusCode)
	}
	b.panics = true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		serve(t, h, "POST", someKey, "x")
	}()
	b.panics, b.status = false, 201
	if resp := serve(t, h, "POST", someKey, "x"); resp.StatusCode != 201 || resp.Header.Get(ReplayedHeader) != "" {
		t.Errorf("retry: %d %v, want a first 201", resp.StatusCode, resp.Header)
	}
	if b.executed != 3 || count(t, pool, "effects") != 1 {
		t.Errorf("executed %d times, %d effects", b.executed, count(t, pool, "effects"))
	}
}

func TestMiddlewareIgnoresTheKeyOnGet(t *testing.T) {
	s, _ := newStore(t, Config{})
	h := Middleware{Store: s}.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	if resp := serve(t, h, "GET", someKey, ""); resp.StatusCode != 204 {
		t.Errorf("status %d, want 204", resp.StatusCode)
	}
}
