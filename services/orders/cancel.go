package main

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// cancel answers POST /orders/{order_id}/cancel with the order as it is then. Twice is once: the first moves the state and sends the
// goods back by an event; who cannot cancel because the order is not theirs is told that there is none, as by GET.
func (a *api) cancel(w http.ResponseWriter, r *http.Request) error {
	customer, err := service.CustomerID(r)
	if err != nil {
		return err
	}
	notFound := service.NewProblem(http.StatusNotFound, "order-not-found", "There is no such order.")
	id, ok := orderID(r)
	if !ok {
		return notFound
	}
	cancelled, err := a.store.cancel(r.Context(), id, customer)
	if err != nil {
		return err
	}
	if cancelled {
		a.placing.metrics.cancelled.Inc()
		a.returned()
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

// cancel moves a customer's confirmed order to cancelled, together with the event that returns its goods: one statement, hence both
// or neither. It reports whether this call did it; when its answer is lost, asking again is safe.
func (s *store) cancel(ctx context.Context, id uuid.UUID, customer string) (bool, error) {
	return resilience.Call(ctx, s.postgres, func(ctx context.Context) (bool, error) {
		tag, err := s.pool.Exec(ctx, `
WITH taken_back AS (
    UPDATE orders SET state = 'cancelled' WHERE id = $1 AND customer_id = $2 AND state = 'confirmed' RETURNING id
)
INSERT INTO outbox (event_id, order_id, kind, payload) SELECT $3, id, 'restock', '{}' FROM taken_back`, id, customer, uuid.New())
		return tag.RowsAffected() == 1, err
	})
}
