package main

import (
	"net/http"

	"github.com/google/uuid"

	"watertight.example/pkg/service"
)

// resolve answers POST /resolve/{order_id}, the question of inventory's sweeper what became of an order whose hold has expired.
// "abandoned" is a promise: the tombstone is written first, and a late confirmation under this id fails on it. A cancelled
// order was confirmed once: its hold became a sale, and the stock returns by an event of its own.
func (a *api) resolve(w http.ResponseWriter, r *http.Request) error {
	id, ok := orderID(r)
	if !ok {
		return service.NewProblem(http.StatusNotFound, "order-not-found", "An order id is a UUID.")
	}
	state, err := a.store.tombstone(r.Context(), id)
	if err != nil {
		return err
	}
	if state == Cancelled {
		state = Confirmed
	}
	return service.WriteJSON(w, http.StatusOK, struct {
		OrderID uuid.UUID `json:"order_id"`
		State   State     `json:"state"`
	}{id, state})
}
