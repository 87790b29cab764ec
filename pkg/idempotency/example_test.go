package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/idempotency"
)

// The draft quotes a key, nearly everybody sends it bare: both are the same key.
func ExampleParseKey() {
	for _, value := range []string{`5f0c2a7e-1b9d-4c55`, `"5f0c2a7e-1b9d-4c55"`, `"5f0c2a7e-1b9d-4c55";v=1`, `1`} {
		key, err := idempotency.ParseKey(value)
		fmt.Println(key, err)
	}
	// Output:
	// 5f0c2a7e-1b9d-4c55 <nil>
	// 5f0c2a7e-1b9d-4c55 <nil>
	//  idempotency: idempotency-key-invalid: A quoted key must end with its quote; parameters are not accepted.
	//  idempotency: idempotency-key-invalid: A key has 16 to 255 characters.
}

// A fingerprint is of what was meant, not of the bytes that arrived; the ids in the path are part of it.
func ExampleFingerprintOf() {
	type payment struct{ Amount int64 }
	a, _ := idempotency.FingerprintOf("POST", "/accounts/{id}/payments", []string{"7"}, payment{1999})
	b, _ := idempotency.FingerprintOf("POST", "/accounts/{id}/payments", []string{"7"}, payment{1999})
	c, _ := idempotency.FingerprintOf("POST", "/accounts/{id}/payments", []string{"8"}, payment{1999})
	fmt.Println(a == b, a == c)
	// Output: true false
}

// What a client is told that forgot its key.
func ExampleWriteProblem() {
	r := httptest.NewRequest("POST", "/payments", nil)
	w := httptest.NewRecorder()
	if _, err := idempotency.KeyOf(r); err != nil {
		idempotency.WriteProblem(w, r, err)
	}
	fmt.Println(w.Code, w.Header().Get("Link"))
	fmt.Print(w.Body)
	// Output:
	// 400 </problems/idempotency-key-missing>; rel="describedby"
	// {"type":"/problems/idempotency-key-missing","title":"Idempotency key missing","status":400,"detail":"This request needs an Idempotency-Key header: a random name of one intent."}
}

// Without the Middleware: the shape of every handler that calls another service between Claim and Finish. The error of
// Finish decides whether the key may be given back.
func ExampleStore_Claim() {
	var (
		store   *idempotency.Store
		reserve func(ctx context.Context, id uuid.UUID) error // another service, idempotent by the id
	)
	place := func(ctx context.Context, req idempotency.Request) (idempotency.Answer, error) {
		claim, replay, err := store.Claim(ctx, req)
		if err != nil {
			return idempotency.Answer{}, err
		}
		if replay != nil {
			return *replay, nil
		}
		ctx, cancel := idempotency.Detach(ctx, 4*time.Second)
		defer cancel()
		if err := reserve(ctx, claim.OperationID); err != nil {
			return idempotency.Answer{}, errors.Join(err, store.Release(ctx, claim))
		}
		answer := idempotency.Answer{Status: http.StatusCreated, Body: []byte(`{"ok":true}`)}
		err = store.Finish(ctx, claim, answer, func(tx *pgx.Batch) {
			tx.Queue(`INSERT INTO orders (id) VALUES ($1)`, claim.OperationID)
		})
		if err != nil && idempotency.RolledBack(err) {
			err = errors.Join(err, store.Release(ctx, claim))
		}
		return answer, err
	}
	_ = place
}
