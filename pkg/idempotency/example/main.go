// Command example is a payment service in one page: a POST that is safe to repeat. Run it on any empty Postgres database:
//
//	DATABASE_URL=postgres://localhost/payments go run ./example
//	curl -i localhost:8080/payments -H 'X-Customer: alice' -H 'Idempotency-Key: 5f0c2a7e-1b9d-4c55' -d '{"amount":1999}'
//
// Send the second line twice, or from two terminals at once, or kill the service in between: there is one payment.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/idempotency"
)

// The payment's id is the claim's OperationID: whoever takes an abandoned key over writes the same row, not a second one.
// UNIQUE (customer, idem_key) outlives the key's own row, which is reaped after a day.
const table = `
CREATE TABLE payments (id uuid PRIMARY KEY, customer text NOT NULL, idem_key text NOT NULL, amount bigint NOT NULL CHECK (amount > 0),
                       UNIQUE (customer, idem_key))`

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, idempotency.Schema()+table); err != nil {
		log.Fatal(err)
	}
	handler, err := payments(pool)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", handler))
}

func payments(pool *pgxpool.Pool) (http.Handler, error) {
	store, err := idempotency.New(pool, idempotency.Config{})
	if err != nil {
		return nil, err
	}
	once := idempotency.Middleware{Store: store, Route: "POST /payments", Tenant: customer}
	mux := http.NewServeMux()
	mux.Handle("POST /payments", once.Wrap(http.HandlerFunc(pay)))
	return mux, nil
}

// customer is whom the key belongs to. A real service takes it from the session, never from a header a client may choose.
func customer(r *http.Request) (string, error) {
	name := r.Header.Get("X-Customer")
	if name == "" {
		return "", &idempotency.Refusal{Name: "unauthenticated", Status: http.StatusUnauthorized}
	}
	return name, nil
}

// pay runs once per key. Whatever it answers below 500 is final and stored, together with the row, in one transaction.
func pay(w http.ResponseWriter, r *http.Request) {
	var in struct{ Amount int64 }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Amount <= 0 {
		http.Error(w, "amount must be a positive whole number", http.StatusUnprocessableEntity)
		return
	}
	claim := idempotency.ClaimFrom(r.Context())
	// Here is the place to call other services, with claim.OperationID as the id of what they do: no transaction is open.
	idempotency.StoreWith(r.Context(), func(tx *pgx.Batch) {
		tx.Queue(`INSERT INTO payments VALUES ($1, $2, $3, $4)`, claim.OperationID, r.Header.Get("X-Customer"), claim.Key, in.Amount)
	})
	w.Header().Set("Location", "/payments/"+claim.OperationID.String())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"payment_id": claim.OperationID, "amount": in.Amount}) // into memory
}
