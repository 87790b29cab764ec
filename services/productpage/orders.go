package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// orders asks the orders service. There is no fallback: an order is placed, refused, or not known yet, and the customer is told
// which. Every attempt carries the key of the customer's form, so sending again cannot order again.
//
// Placing and looking are two dependencies, although both are the same service: when orders cannot reserve stock it refuses every
// order, and a breaker that opens on that must not take the pages of orders placed long ago with it.
type orders struct {
	dep   *resilience.Dependency // for placing and cancelling
	reads *resilience.Dependency
	url   string

	forgetful bool // RESILIENCE_WITHOUT=idempotency: each attempt has a key of its own, so that none can be told from a new intent
}

func newOrders(s *service.Service, cfg *Config, c contract) (*orders, error) {
	total := c.checkout * 9 / 10 // the rest is for the page
	dep, err1 := s.Dependency("orders", cfg.policy(resilience.Config{
		// A lost answer is asked for again with the same key, and so is the 409 that says the first attempt is still at it: three
		// attempts fit, pauses included, also when each takes its whole time.
		Timeout:  resilience.Timeout{Total: total, Attempt: total * 32 / 100},
		Retry:    resilience.Retry{Max: 2, Base: 50 * time.Millisecond, Cap: time.Second, BudgetRatio: 0.2, BudgetFloor: 20},
		Bulkhead: resilience.Bulkhead{Max: cfg.OrdersMaxCalls, MaxWait: 50 * time.Millisecond}, // somebody who pays may wait a moment
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: total / 4, MinCalls: 20, // Window: ten attempts
			ConsecutiveFailures: 5, OpenFor: cfg.OrdersOpenFor, Probes: 2},
	}))
	look := c.look * 8 / 10
	reads, err2 := s.Dependency("orders-reads", cfg.policy(resilience.Config{
		Timeout:  resilience.Timeout{Total: look, Attempt: look * 45 / 100},
		Retry:    resilience.Retry{Max: 1, Base: 20 * time.Millisecond, Cap: 40 * time.Millisecond},
		Bulkhead: resilience.Bulkhead{Max: cfg.OrdersMaxCalls},
		Breaker: resilience.Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: look * 2 / 5, MinCalls: 20, // Window: ten attempts
			ConsecutiveFailures: 5, OpenFor: cfg.OrdersOpenFor, Probes: 1},
	}))
	return &orders{dep: dep, reads: reads, url: cfg.OrdersURL, forgetful: cfg.Without == service.Idempotency}, errors.Join(err1, err2)
}

// Order is a placed order, amounts in minor units of Currency.
type Order struct {
	ID        string       `json:"order_id"`
	State     string       `json:"state"`
	Lines     []PricedLine `json:"lines"`
	Total     int64        `json:"total"`
	Currency  string       `json:"currency"`
	CreatedAt time.Time    `json:"created_at"`
}

// intent is what a customer asks for by pressing the button. Key names it: sent twice it is still one order.
type intent struct {
	Customer string `json:"-"`
	Key      string `json:"-"`
	QuoteID  string `json:"quote_id"`
	Lines    []Line `json:"lines"`
}

// place places the order, or returns the one that the same key has placed before.
func (o *orders) place(ctx context.Context, in intent) (Order, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return Order{}, err
	}
	return resilience.Call(ctx, o.dep, func(ctx context.Context) (Order, error) {
		var order Order
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url+"/orders", bytes.NewReader(body))
		if err != nil {
			return order, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", o.keyOf(in))
		req.Header.Set("X-Customer-Id", in.Customer)
		if err := service.CallJSON(o.dep.HTTPClient(), req, &order); err != nil {
			return order, err
		}
		return order, order.check()
	})
}

func (o *orders) keyOf(in intent) string {
	if o.forgetful {
		return uuid.NewString()
	}
	return in.Key
}

// order returns a placed order of this customer. Someone else's is a *StatusError with 404, like one that never was.
func (o *orders) order(ctx context.Context, customer, id string) (Order, error) {
	order, err := lookup[Order](ctx, o, customer, "/orders/"+id)
	if err == nil {
		err = order.check()
	}
	if err == nil && order.ID != id {
		err = nonsense("order %.40q instead of %s", order.ID, id)
	}
	return order, err
}

// cancel takes a confirmed order back and returns it as it is then. It may be asked again: twice is once, which the key, made of
// the order's own id, tells everybody on the way.
func (o *orders) cancel(ctx context.Context, customer, id string) (Order, error) {
	return resilience.Call(ctx, o.dep, func(ctx context.Context) (Order, error) {
		var order Order
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url+"/orders/"+id+"/cancel", nil)
		if err != nil {
			return order, err
		}
		req.Header.Set("Idempotency-Key", "cancel-"+id)
		req.Header.Set("X-Customer-Id", customer)
		if err := service.CallJSON(o.dep.HTTPClient(), req, &order); err != nil {
			return order, err
		}
		return order, order.check()
	})
}

// Checkout is what became of an intent: in_progress, confirmed with an order, or refused with a problem.
type Checkout struct {
	State   string  `json:"state"`
	OrderID string  `json:"order_id"`
	Problem refusal `json:"problem"`
}

// checkout tells what became of a key of this customer; a *StatusError with 404 means that orders has not seen it.
func (o *orders) checkout(ctx context.Context, customer, key string) (Checkout, error) {
	c, err := lookup[Checkout](ctx, o, customer, "/checkouts/"+key)
	if err == nil && c.State == "confirmed" && !isUUID(c.OrderID) {
		err = nonsense("confirmed as order %.40q", c.OrderID)
	}
	return c, err
}

// lookup reads something of the customer's. path is made of ids that were checked to be UUIDs.
func lookup[T any](ctx context.Context, o *orders, customer, path string) (T, error) {
	return resilience.Call(ctx, o.reads, func(ctx context.Context) (T, error) {
		return get[T](ctx, o.reads, o.url+path, http.Header{"X-Customer-Id": {customer}})
	})
}

func (o Order) check() error {
	if !isUUID(o.ID) || len(o.Lines) == 0 || len(o.Lines) > maxLines || !saneMoney(o.Total, o.Currency) {
		return nonsense("order %.40q with %d lines", o.ID, len(o.Lines))
	}
	for _, l := range o.Lines {
		if l.SKU < 1 || l.Quantity < 1 || !saneMoney(l.UnitAmount, o.Currency) || !saneMoney(l.Amount, o.Currency) {
			return nonsense("order line %+v", l)
		}
	}
	return nil
}

// refusal is the problem document of an order that was not accepted. Unknown members are ignored.
type refusal struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Short  []struct {
		SKU       int `json:"sku"`
		Requested int `json:"requested"`
		Available int `json:"available"`
	} `json:"short"`
}

// refusalOf finds the problem in an error of place, with its status; ok is false when the error is no answer of orders.
func refusalOf(err error) (p refusal, status int, ok bool) {
	var answer *resilience.StatusError
	if !errors.As(err, &answer) {
		return p, 0, false
	}
	if json.Unmarshal(answer.Body, &p) != nil { // an answer, but not of our making
		p = refusal{}
	}
	return p, answer.Status, true
}
