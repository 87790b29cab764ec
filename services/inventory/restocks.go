package main

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"watertight.example/pkg/service"
)

// restocked says what came back to the shelf.
type restocked struct {
	EventID uuid.UUID `json:"event_id"`
	OrderID uuid.UUID `json:"order_id"`
	Lines   []Line    `json:"lines"`
}

// restock answers POST /restocks/{event_id}, orders' word that a sale was cancelled: 201 when the goods come back, 200 when they had.
func (a *api) restock(w http.ResponseWriter, r *http.Request) error {
	event, err := pathID(chi.URLParam(r, "event_id"), "event id")
	if err != nil {
		return err
	}
	var body struct {
		OrderID uuid.UUID `json:"order_id"`
	}
	if err := service.DecodeJSON(r, &body); err != nil {
		return err
	}
	if body.OrderID == uuid.Nil {
		return invalid("order_id must name the order whose goods come back.")
	}
	res, err := a.store.Restock(r.Context(), event, body.OrderID)
	a.metrics.reservation("restock", res, err)
	if err != nil {
		return problem(err)
	}
	status := http.StatusOK
	if res.Moved {
		status = http.StatusCreated
	}
	return service.WriteJSON(w, status, restocked{event, body.OrderID, res.Lines})
}
