package main

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"watertight.example/pkg/service"
)

const (
	maxSKU      = math.MaxInt32
	maxLines    = 20
	maxQuantity = 99
)

// reserve answers POST /reservations/{order_id}: 201 when it holds, 200 when it held already.
func (a *api) reserve(w http.ResponseWriter, r *http.Request) error {
	id, err := orderID(r)
	if err != nil {
		return err
	}
	var body struct {
		Lines []Line `json:"lines"`
	}
	if err := service.DecodeJSON(r, &body); err != nil {
		return err
	}
	if err := checkLines(body.Lines); err != nil {
		return err
	}
	res, err := a.store.Reserve(r.Context(), id, body.Lines)
	a.metrics.reservation("reserve", res, err)
	if err != nil {
		return problem(err)
	}
	status := http.StatusOK
	if res.Moved {
		status = http.StatusCreated
		w.Header().Set("Location", "/reservations/"+id.String())
	}
	return service.WriteJSON(w, status, res)
}

// settle answers POST /reservations/{order_id}/commit and /release.
func (a *api) settle(to State, operation string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := orderID(r)
		if err != nil {
			return err
		}
		res, err := a.store.Settle(r.Context(), id, to)
		a.metrics.reservation(operation, res, err)
		if err != nil {
			return problem(err)
		}
		return service.WriteJSON(w, http.StatusOK, res)
	}
}

// getReservation answers GET /reservations/{order_id}.
func (a *api) getReservation(w http.ResponseWriter, r *http.Request) error {
	id, err := orderID(r)
	if err != nil {
		return err
	}
	res, err := a.store.Reservation(r.Context(), id)
	if err != nil {
		return problem(err)
	}
	return service.WriteJSON(w, http.StatusOK, res)
}

// orderID and pathID take the canonical form only: uuid.Parse alone also accepts braces,
// urn: and no dashes, and one order would have several addresses.
func orderID(r *http.Request) (uuid.UUID, error) {
	return pathID(chi.URLParam(r, "order_id"), "order id")
}

func pathID(text, what string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return id, invalid("The %s must be a UUID like 123e4567-e89b-42d3-a456-426614174000.", what)
	}
	return id, nil
}

// checkLines refuses what no stock could fulfil and sorts the rest by SKU, the
// order in which the store locks.
func checkLines(lines []Line) error {
	if len(lines) == 0 || len(lines) > maxLines {
		return invalid("A reservation has 1 to %d lines.", maxLines)
	}
	slices.SortFunc(lines, func(a, b Line) int { return int(a.SKU) - int(b.SKU) })
	for i, l := range lines {
		switch {
		case l.SKU < 1:
			return invalid("sku must be a whole number from 1 to %d.", maxSKU)
		case l.Quantity < 1 || l.Quantity > maxQuantity:
			return invalid("quantity must be a whole number from 1 to %d.", maxQuantity)
		case i > 0 && lines[i-1].SKU == l.SKU:
			return invalid("sku %d appears twice: join the lines.", l.SKU)
		}
	}
	return nil
}

func invalid(format string, args ...any) *service.Problem {
	return service.NewProblem(http.StatusBadRequest, "malformed-request", fmt.Sprintf(format, args...))
}

// problem puts a refusal of the store in HTTP's words; other errors pass
// through and become 503 or 500 outside.
func problem(err error) error {
	refused := func(name string) *service.Problem {
		return service.NewProblem(http.StatusUnprocessableEntity, name, err.Error()+".").Wrap(err)
	}
	var short *ShortError
	var unknown *UnknownSKUError
	switch {
	case errors.As(err, &short):
		return refused("insufficient-stock").WithExtra("short", short.Short)
	case errors.As(err, &unknown):
		return refused("unknown-sku").WithExtra("unknown", unknown.SKUs)
	case errors.Is(err, ErrMismatch):
		return refused("reservation-mismatch")
	case errors.Is(err, ErrReleased):
		return refused("reservation-released")
	case errors.Is(err, ErrCommitted):
		return refused("reservation-committed")
	case errors.Is(err, ErrRestocked):
		return refused("restock-mismatch")
	case errors.Is(err, ErrNotFound):
		return service.NewProblem(http.StatusNotFound, "reservation-not-found", "No such reservation.").Wrap(err)
	case errors.Is(err, ErrContended):
		return service.NewProblem(http.StatusServiceUnavailable, "dependency-unavailable", "Too many want the same items right now.").
			WithRetryAfter(time.Second).Wrap(err)
	}
	return err
}
