package main

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"watertight.example/pkg/service"
)

// State of an order. It is born Confirmed or Abandoned, may go from Confirmed to Cancelled, and is never deleted. The rule is in
// triggers of the database (migrations 00002 and 00006), because that is where every writer passes, one with psql included.
type State string

// The states.
const (
	Confirmed State = "confirmed" // placed: stock is reserved for it
	Cancelled State = "cancelled" // taken back: its stock returns by an event of its own, never by deleting anything
	Abandoned State = "abandoned" // a tombstone: it was never placed and never will be
)

// Order is what a customer bought. Amounts are minor units of Currency. Its JSON is the answer of POST and GET.
type Order struct {
	ID        uuid.UUID `json:"order_id"`
	State     State     `json:"state"`
	Lines     []Line    `json:"lines"`
	Total     int64     `json:"total"`
	Currency  string    `json:"currency"`
	CreatedAt time.Time `json:"created_at"`
}

// Line is one product of an order, in the order of SKUs.
type Line struct {
	SKU        int   `json:"sku"`
	Quantity   int   `json:"quantity"`
	UnitAmount int64 `json:"unit_amount"`
	Amount     int64 `json:"amount"` // Quantity times UnitAmount
}

// Item is what a customer asks for: never an amount.
type Item struct {
	SKU      int `json:"sku"`
	Quantity int `json:"quantity"`
}

const (
	maxLines    = 20
	maxQuantity = 99
	maxSKU      = 1<<31 - 1 // it is an int in every store
)

// basket is the body of POST /orders. Its items are sorted by SKU, so that the same basket has one fingerprint.
type basket struct {
	QuoteID uuid.UUID `json:"quote_id"`
	Items   []Item    `json:"lines"`
}

// readBasket decodes and checks the body; errors are a *service.Problem 4xx.
func readBasket(r *http.Request) (basket, error) {
	var b basket
	if err := service.DecodeJSON(r, &b); err != nil {
		return b, err
	}
	if b.QuoteID == uuid.Nil {
		return b, invalidOrder("quote_id must name the quote the customer saw.")
	}
	if len(b.Items) < 1 || len(b.Items) > maxLines {
		return b, invalidOrder(fmt.Sprintf("lines must be 1 to %d.", maxLines))
	}
	slices.SortFunc(b.Items, func(x, y Item) int { return x.SKU - y.SKU })
	for i, item := range b.Items {
		switch {
		case item.SKU < 1 || item.SKU > maxSKU:
			return b, invalidOrder("sku must be a positive whole number.")
		case item.Quantity < 1 || item.Quantity > maxQuantity:
			return b, invalidOrder(fmt.Sprintf("quantity must be 1 to %d.", maxQuantity))
		case i > 0 && b.Items[i-1].SKU == item.SKU:
			return b, invalidOrder(fmt.Sprintf("sku %d is in more than one line.", item.SKU))
		}
	}
	return b, nil
}

func invalidOrder(detail string) error {
	return service.NewProblem(http.StatusBadRequest, "invalid-order", detail)
}

// show answers GET /orders/{order_id}: one read of our own store, whatever the other services do. Somebody else's
// order is as unknown as one that does not exist.
func (a *api) show(w http.ResponseWriter, r *http.Request) error {
	customer, err := service.CustomerID(r)
	if err != nil {
		return err
	}
	notFound := service.NewProblem(http.StatusNotFound, "order-not-found", "There is no such order.")
	id, ok := orderID(r)
	if !ok {
		return notFound
	}
	order, found, err := a.store.order(r.Context(), id, customer)
	if err != nil {
		return err
	}
	if !found {
		return notFound
	}
	return service.WriteJSON(w, http.StatusOK, order)
}

// orderID reads the path's id in its one canonical spelling; uuid.Parse alone also takes URNs and braces.
func orderID(r *http.Request) (uuid.UUID, bool) {
	text := chi.URLParam(r, "order_id")
	id, err := uuid.Parse(text)
	return id, err == nil && id.String() == text
}
