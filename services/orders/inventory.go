package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// inventory holds stock for orders.
type inventory struct {
	url string
	dep *resilience.Dependency
}

// Reserving writes, under locks of hot products: 900 ms. It is idempotent by the order's id, so an attempt whose answer was
// lost is repeated once. There is no fallback: stock that may not be there is not sold.
func (c *Config) inventoryPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: 2 * time.Second, Attempt: 900 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: c.InventoryMaxCalls, MaxWait: 50 * time.Millisecond},
		Breaker:  resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, ConsecutiveFailures: 5, OpenFor: c.InventoryOpenFor, Probes: 2},
		Retry:    resilience.Retry{Max: 1, Base: 30 * time.Millisecond},
	}
}

func newInventory(s *service.Service, cfg *Config) (*inventory, error) {
	dep, err := s.Dependency("inventory", cfg.inventoryPolicy())
	return &inventory{url: cfg.InventoryURL, dep: dep}, err
}

// errReleased says that nothing can be reserved under this id any more: a sweeper ended it. The order needs a fresh one.
var errReleased = errors.New("inventory: this reservation was released for good")

// reserve holds stock for the order. The error is a *service.Problem for a refusal that is final (stock, unknown product),
// errReleased for an id that is spent.
func (i *inventory) reserve(ctx context.Context, order uuid.UUID, items []Item) error {
	body, err := json.Marshal(map[string]any{"lines": items})
	if err != nil {
		return err
	}
	err = i.post(ctx, order, "", body, "held", "committed")
	switch problemName(err) {
	case "insufficient-stock":
		return refuse("insufficient-stock", "There is not enough stock.").WithExtra("short", problemMember(err, "short"))
	case "unknown-sku":
		return refuse("unknown-sku", "Some of these products are not sold here.").WithExtra("unknown", problemMember(err, "unknown"))
	case "reservation-released":
		return errReleased
	}
	return err
}

// commit makes a hold a sale; idempotent.
func (i *inventory) commit(ctx context.Context, order uuid.UUID) error {
	return i.post(ctx, order, "/commit", nil, "committed")
}

// restock brings the goods of a cancelled order back; idempotent by the event's id. Only an answer that names the event says
// that they are back.
func (i *inventory) restock(ctx context.Context, event, order uuid.UUID) error {
	return resilience.Do(ctx, i.dep, func(ctx context.Context) error {
		body := strings.NewReader(`{"order_id":"` + order.String() + `"}`)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url+"/restocks/"+event.String(), body)
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		var answer struct {
			EventID uuid.UUID `json:"event_id"`
		}
		if err := service.CallJSON(i.dep.HTTPClient(), req, &answer); err != nil {
			return err
		}
		if answer.EventID != event {
			return fmt.Errorf("%w: event %v for %v", service.ErrBadAnswer, answer.EventID, event)
		}
		return nil
	})
}

// post believes only an answer that names this order in one of the states wanted: a page with status 200 holds no stock.
func (i *inventory) post(ctx context.Context, order uuid.UUID, action string, body []byte, want ...string) error {
	return resilience.Do(ctx, i.dep, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url+"/reservations/"+order.String()+action, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", order.String()) // says to every layer between that this POST may be repeated
		var answer struct {
			OrderID uuid.UUID `json:"order_id"`
			State   string    `json:"state"`
		}
		if err := service.CallJSON(i.dep.HTTPClient(), req, &answer); err != nil {
			return err
		}
		if answer.OrderID != order || !slices.Contains(want, answer.State) {
			return fmt.Errorf("%w: reservation %v is %q, want %v", service.ErrBadAnswer, answer.OrderID, answer.State, want)
		}
		return nil
	})
}
