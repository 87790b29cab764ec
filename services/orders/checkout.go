package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// minPlaceTime is the least a caller must still wait for an order to be worth claiming: a claim without time to work would only
// keep its own retries out.
const minPlaceTime = 100 * time.Millisecond

// place answers POST /orders.
func (a *api) place(w http.ResponseWriter, r *http.Request) error {
	customer, err := service.CustomerID(r)
	if err != nil {
		return err
	}
	key, err := idempotency.KeyOf(r)
	if err != nil {
		w.Header().Set("Link", `</problems/idempotency-key-missing>; rel="describedby"`)
		return asProblem(err)
	}
	b, err := readBasket(r)
	if err != nil {
		return err
	}
	if limit, ok := r.Context().Deadline(); ok && time.Until(limit) < minPlaceTime {
		return service.NewProblem(http.StatusServiceUnavailable, "deadline-too-short", "The time given is too short to place an order.").WithRetryAfter(time.Second)
	}
	answer, err := a.placing.place(r.Context(), key, placement{Customer: customer, basket: b})
	if _, stands := errors.AsType[kept](err); stands {
		w.Header().Set("Location", "/checkouts/"+url.PathEscape(key)) // where to see what becomes of it
	}
	if err != nil {
		return asProblem(err)
	}
	_ = answer.Write(w) // the client is gone: the answer is stored
	return nil
}

// checkout is the state of an intent while and after it is carried out.
type checkout struct {
	State   string          `json:"state"` // in_progress, confirmed, refused
	OrderID *uuid.UUID      `json:"order_id,omitempty"`
	Problem json.RawMessage `json:"problem,omitempty"`
}

// showCheckout answers GET /checkouts/{key}: reads, never claims.
func (a *api) showCheckout(w http.ResponseWriter, r *http.Request) error {
	customer, err := service.CustomerID(r)
	if err != nil {
		return err
	}
	text, err := url.PathUnescape(chi.URLParam(r, "key"))
	if err != nil {
		text = ""
	}
	key, err := idempotency.ParseKey(text)
	if err != nil {
		return asProblem(err)
	}
	type looked struct {
		record idempotency.Record
		found  bool
	}
	scope := idempotency.Scope(route, customer)
	l, err := resilience.Call(r.Context(), a.store.postgres, func(ctx context.Context) (l looked, err error) {
		l.record, l.found, err = a.placing.keys.Lookup(ctx, scope, key)
		return l, err
	})
	if err != nil {
		return asProblem(err)
	}
	switch answer := l.record.Answer; {
	case l.found && !l.record.Done:
		return service.WriteJSON(w, http.StatusOK, checkout{State: "in_progress"})
	case l.found && answer.Status != http.StatusCreated:
		return service.WriteJSON(w, http.StatusOK, checkout{State: "refused", Problem: answer.Body})
	}
	order, found, err := a.store.orderOf(r.Context(), scope, key) // also when the key row is long gone
	if err != nil {
		return err
	}
	if !found {
		return service.NewProblem(http.StatusNotFound, "checkout-not-found", "Nothing was ordered with this key yet.")
	}
	return service.WriteJSON(w, http.StatusOK, checkout{State: "confirmed", OrderID: &order.ID})
}
