package idempotency

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
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

func alice(*http.Request) (string, error) { return "alice", nil }

func serve(t *testing.T, h http.Handler, method, key, body string) *http.Response {
	t.Helper()
	return serveAt(t, h, method, "/payments", key, body)
}

func serveAt(t *testing.T, h http.Handler, method, path, key, body string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
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
	h := Middleware{Store: s, Route: "POST /payments", Tenant: alice}.Wrap(b)

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
		"large body": {"large-0123456789", `"` + strings.Repeat("x", 64<<10) + `"`, 413, BodyTooLarge},
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
	h := Middleware{Store: s, Route: "POST /payments", Tenant: alice}.Wrap(b)
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

func TestMiddlewareStoresOnlyFinalAnswers(t *testing.T) {
	s, _ := newStore(t, Config{})
	for status, final := range map[int]bool{
		200: true, 201: true, 204: true, 303: true, 400: true, 403: true, 404: true, 409: true, 410: true, 422: true,
		408: false, 425: false, 429: false, 500: false, 502: false, 503: false, 504: false,
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			b := &bank{status: status}
			h := Middleware{Store: s, Route: "POST /payments", Tenant: alice}.Wrap(b)
			key := "final-0123456789-" + strconv.Itoa(status)
			if resp := serve(t, h, "POST", key, "x"); resp.StatusCode != status {
				t.Fatalf("status %d, want the handler's", resp.StatusCode)
			}
			b.status = 202 // what the handler would say by now
			again := serve(t, h, "POST", key, "x")
			if want := map[bool]int{true: status, false: 202}[final]; again.StatusCode != want || (again.Header.Get(ReplayedHeader) == "true") != final {
				t.Errorf("the retry got %d %v, want %d", again.StatusCode, again.Header, want)
			}
		})
	}
}

func TestMiddlewareTellsRequestsApart(t *testing.T) {
	s, _ := newStore(t, Config{})
	h := Middleware{Store: s, Route: "POST /payments/{id}", Tenant: alice}.Wrap(&bank{status: 201})
	for name, c := range map[string]struct{ path, body, otherPath, otherBody string }{
		"path id": {"/payments/7", `{"amount":1}`, "/payments/8", `{"amount":1}`},
		"query":   {"/payments/7?to=bob", `{"amount":1}`, "/payments/7?to=eve", `{"amount":1}`},
		"amount":  {"/payments/7", `{"amount":1}`, "/payments/7", `{"amount":2}`},
		// Both are 9007199254740992 as a float64.
		"amount beyond 2^53":     {"/payments/7", `{"amount":9007199254740992}`, "/payments/7", `{"amount":9007199254740993}`},
		"second document":        {"/payments/7", `{"amount":1} 2`, "/payments/7", `{"amount":1} 3`},
		"what follows a bracket": {"/payments/7", `{"amount":1}} 2`, "/payments/7", `{"amount":1}} 3`},
		"not JSON":               {"/payments/7", `amount=1`, "/payments/7", `amount=2`},
		"a JSON string of it":    {"/payments/7", `amount=1`, "/payments/7", `"YW1vdW50PTE="`}, // base64, as encoding/json writes bytes
		"nothing and a string":   {"/payments/7", ``, "/payments/7", `""`},
	} {
		t.Run(name, func(t *testing.T) {
			key := strings.ReplaceAll("apart-0123456789-"+name, " ", "-")
			if resp := serveAt(t, h, "POST", c.path, key, c.body); resp.StatusCode != 201 {
				t.Fatalf("status %d, want 201", resp.StatusCode)
			}
			if resp := serveAt(t, h, "POST", c.otherPath, key, c.otherBody); resp.StatusCode != 422 {
				t.Errorf("another request under the same key got %d, want 422", resp.StatusCode)
			}
			if resp := serveAt(t, h, "POST", c.path, key, c.body); resp.StatusCode != 201 || resp.Header.Get(ReplayedHeader) == "" {
				t.Errorf("the same request got %d %v, want the replay", resp.StatusCode, resp.Header)
			}
		})
	}
}

func TestMiddlewareIgnoresTheKeyOnGet(t *testing.T) {
	s, _ := newStore(t, Config{})
	h := Middleware{Store: s}.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	if resp := serve(t, h, "GET", someKey, ""); resp.StatusCode != 204 {
		t.Errorf("status %d, want 204", resp.StatusCode)
	}
}
