package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"watertight.example/pkg/service"
)

const (
	maxLines    = 20
	maxQuantity = 99
)

// purchase is one order that was placed, as orders reports it. EventID names the report: however often it is delivered, it
// counts once.
type purchase struct {
	EventID    uuid.UUID `json:"event_id"`
	OrderID    uuid.UUID `json:"order_id"`
	Lines      []line    `json:"lines"`
	OccurredAt time.Time `json:"occurred_at"`
}

type line struct {
	SKU      int `json:"sku"`
	Quantity int `json:"quantity"`
}

// recordPurchase answers POST /purchases: 201 for a new event, 200 with what is stored for one that is known.
func recordPurchase(s *store) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		var p purchase
		if err := service.DecodeJSON(r, &p); err != nil {
			return err
		}
		if err := p.check(); err != nil {
			return err
		}
		p.normalize()
		created, err := s.record(r.Context(), p)
		if err != nil {
			return err
		}
		if !created {
			return repeated(w, r, s, p)
		}
		w.Header().Set("Location", "/purchases/"+p.EventID.String())
		return service.WriteJSON(w, http.StatusCreated, p)
	}
}

// repeated answers an event that was recorded before. Another purchase under the same event id would be lost in silence if it
// were called a repetition.
func repeated(w http.ResponseWriter, r *http.Request, s *store, p purchase) error {
	stored, err := s.stored(r.Context(), p.EventID)
	if err != nil {
		return err
	}
	if stored.OrderID != p.OrderID || !slices.Equal(stored.Lines, p.Lines) {
		return service.NewProblem(http.StatusUnprocessableEntity, "purchase-mismatch", "This event id was used for another purchase.")
	}
	return service.WriteJSON(w, http.StatusOK, stored)
}

// showPurchase answers GET /purchases/{event_id}.
func showPurchase(s *store) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		event, err := uuid.Parse(chi.URLParam(r, "event_id"))
		if err != nil {
			return purchaseNotFound()
		}
		stored, err := s.stored(r.Context(), event)
		if err != nil {
			return err
		}
		return service.WriteJSON(w, http.StatusOK, stored)
	}
}

// stored returns the purchase of an event, or the 404 problem.
func (s *store) stored(ctx context.Context, event uuid.UUID) (purchase, error) {
	list, err := s.purchase(ctx, event)
	if err != nil {
		return purchase{}, err
	}
	if len(list) == 0 {
		return purchase{}, purchaseNotFound()
	}
	return list[0], nil
}

func purchaseNotFound() error {
	return service.NewProblem(http.StatusNotFound, "purchase-not-found", "There is no such purchase.")
}

// check returns a 400 problem that names the first thing wrong with p, or nil.
func (p purchase) check() error {
	switch {
	case p.EventID == uuid.Nil:
		return badPurchase("event_id must be a UUID.")
	case p.OrderID == uuid.Nil:
		return badPurchase("order_id must be a UUID.")
	case p.OccurredAt.IsZero():
		return badPurchase("occurred_at must be a time (RFC 3339).")
	case len(p.Lines) < 1 || len(p.Lines) > maxLines:
		return badPurchase(fmt.Sprintf("lines must be 1 to %d.", maxLines))
	}
	seen := map[int]bool{}
	for i, l := range p.Lines {
		switch {
		case l.SKU < 1 || l.SKU > lastProduct:
			return badPurchase(fmt.Sprintf("lines[%d].sku is no product.", i))
		case l.Quantity < 1 || l.Quantity > maxQuantity:
			return badPurchase(fmt.Sprintf("lines[%d].quantity must be 1 to %d.", i, maxQuantity))
		case seen[l.SKU]:
			return badPurchase(fmt.Sprintf("lines[%d].sku is in an earlier line.", i))
		}
		seen[l.SKU] = true
	}
	return nil
}

func badPurchase(detail string) error {
	return service.NewProblem(http.StatusBadRequest, "invalid-purchase", detail)
}

// normalize gives the same purchase the same form, so that a repetition is recognised: lines by sku, time as Postgres keeps it.
func (p *purchase) normalize() {
	slices.SortFunc(p.Lines, func(a, b line) int { return cmp.Compare(a.SKU, b.SKU) })
	p.OccurredAt = p.OccurredAt.UTC().Truncate(time.Microsecond)
}
