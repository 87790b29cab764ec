package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestThePaymentIsMadeOnce does what the package page promises to whoever follows it.
func TestThePaymentIsMadeOnce(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), idempotency.Schema()+table); err != nil {
		t.Fatal(err)
	}
	handler, err := payments(pool)
	if err != nil {
		t.Fatal(err)
	}
	post := func(key, who, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/payments", strings.NewReader(body))
		if key != "" {
			r.Header.Set(idempotency.Header, key)
		}
		r.Header.Set("X-Customer", who)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	const key = "5f0c2a7e-1b9d-4c55"
	first, again := post(key, "alice", `{"amount":1999}`), post(key, "alice", `{ "amount": 1999 }`)
	if first.Code != 201 || again.Code != 201 || first.Body.String() != again.Body.String() || first.Header().Get("Location") != again.Header().Get("Location") {
		t.Errorf("%d %s, again %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	if first.Header().Get(idempotency.ReplayedHeader) != "" || again.Header().Get(idempotency.ReplayedHeader) != "true" {
		t.Error("exactly the second answer is a replay")
	}
	for name, c := range map[string]struct {
		got  *httptest.ResponseRecorder
		want int
	}{
		"the same key for another amount": {post(key, "alice", `{"amount":1}`), 422},
		"no key":                          {post("", "alice", `{"amount":1}`), 400},
		"nobody":                          {post(key, "", `{"amount":1}`), 401},
		"another customer, the same key":  {post(key, "bob", `{"amount":1999}`), 201},
		"a refusal":                       {post("0123456789abcdef-refused", "bob", `{"amount":-1}`), 422},
		"and again":                       {post("0123456789abcdef-refused", "bob", `{"amount":-1}`), 422},
	} {
		if c.got.Code != c.want {
			t.Errorf("%s: %d %s, want %d", name, c.got.Code, c.got.Body, c.want)
		}
	}
	var n int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM payments`).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d payments, %v, want 2", n, err)
	}
}
