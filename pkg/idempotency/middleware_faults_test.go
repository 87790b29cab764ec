package idempotency

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5"
)

// TestMiddlewareOutlivesItsClient hangs up in the middle of the work, on a real connection: only there does the server cancel
// the request. The work goes on, within its budget, and the retry gets what came of it.
func TestMiddlewareOutlivesItsClient(t *testing.T) {
	s, pool := newStore(t, Config{})
	begun, served := make(chan struct{}), make(chan struct{})
	var client context.Context // as the server sees it
	work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-client.Done()
		if err := r.Context().Err(); err != nil {
			t.Errorf("the work's context ended with its client: %v", err)
		}
		if _, bounded := r.Context().Deadline(); !bounded {
			t.Error("nothing bounds work without a client")
		}
		StoreWith(r.Context(), effect(ClaimFrom(r.Context()), "paid"))
		w.WriteHeader(http.StatusCreated)
	})
	h := Middleware{Store: s, Route: "POST /payments", Tenant: alice}.Wrap(work)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(served)
		client = r.Context()
		h.ServeHTTP(w, r)
	}))
	defer server.Close()

	ctx, hangUp := context.WithCancel(t.Context())
	go func() { <-begun; hangUp() }()
	r, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/payments", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(Header, someKey)
	if resp, err := server.Client().Do(r); !errors.Is(err, context.Canceled) {
		t.Fatalf("the client that hung up got %v, %v", resp, err)
	}
	<-served
	if again := serve(t, h, "POST", someKey, "x"); again.StatusCode != 201 || again.Header.Get(ReplayedHeader) == "" {
		t.Errorf("the retry got %d %v, want the replay", again.StatusCode, again.Header)
	}
	if n := count(t, pool, "effects"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// TestMiddlewareKeepsTheKeyOfAnUnknownOutcome loses the connection inside Finish. That this one was rolled back is known to the
// test, not to the owner: to it the transaction may as well have committed, or be on its way still. So nobody else may start
// before the lease has run out.
func TestMiddlewareKeepsTheKeyOfAnUnknownOutcome(t *testing.T) {
	s, pool := newStore(t, Config{})
	var first, heir *Claim
	dies := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		first = ClaimFrom(r.Context())
		StoreWith(r.Context(), func(tx *pgx.Batch) { tx.Queue(`SELECT pg_terminate_backend(pg_backend_pid())`) })
	})
	works := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heir = ClaimFrom(r.Context()) })
	once := Middleware{Store: s, Route: "POST /payments", Tenant: alice}
	resp := serve(t, once.Wrap(dies), "POST", someKey, "x")
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 503 || !strings.Contains(string(body), OutcomeUnknown) || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("%d %s %v, want a 503 %s that is worth repeating", resp.StatusCode, body, resp.Header, OutcomeUnknown)
	}
	if resp := serve(t, once.Wrap(works), "POST", someKey, "x"); resp.StatusCode != 409 || heir != nil {
		t.Fatalf("the retry got %d, and executed: %v; want 409 while the outcome is unknown", resp.StatusCode, heir != nil)
	}
	expire(t, pool)
	if resp := serve(t, once.Wrap(works), "POST", someKey, "x"); resp.StatusCode != 200 || heir == nil || heir.OperationID != first.OperationID {
		t.Errorf("after the lease: %d, heir %+v, want it to execute as %+v", resp.StatusCode, heir, first)
	}
}

// TestMiddlewareGivesTheKeyBackAfterARollback is the other side: a constraint of the caller's rows has refused them, for certain.
func TestMiddlewareGivesTheKeyBackAfterARollback(t *testing.T) {
	s, pool := newStore(t, Config{})
	note := "forbidden"
	h := Middleware{Store: s, Route: "POST /payments", Tenant: alice}.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		StoreWith(r.Context(), effect(ClaimFrom(r.Context()), note))
	}))
	if resp := serve(t, h, "POST", someKey, "x"); resp.StatusCode != 500 {
		t.Fatalf("status %d, want 500: the handler's 200 was not stored", resp.StatusCode)
	}
	note = "fine"
	if resp := serve(t, h, "POST", someKey, "x"); resp.StatusCode != 200 || count(t, pool, "effects") != 1 {
		t.Errorf("the retry got %d, want it to execute at once", resp.StatusCode)
	}
}

func TestMiddlewareExecutesNoHalfBody(t *testing.T) {
	s, pool := newStore(t, Config{})
	b := &bank{status: 201}
	h := Middleware{Store: s, Route: "POST /payments", Tenant: alice}.Wrap(b)
	r := httptest.NewRequest("POST", "/payments", io.MultiReader(strings.NewReader(`{"amount":1`), iotest.ErrReader(io.ErrUnexpectedEOF)))
	r.Header.Set(Header, someKey)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 400 || !strings.Contains(w.Body.String(), Malformed) || b.executed != 0 || count(t, pool, "idempotency_keys") != 0 {
		t.Errorf("%d %s; executed %d times, want a 400 and no key", w.Code, w.Body, b.executed)
	}
}
