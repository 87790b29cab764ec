package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
)

// checkoutView is what the checkout form's template needs.
type checkoutView struct {
	basket
	Rows     []row
	Total    int64
	Currency string
	Expires  time.Time
	Quoted   bool // false: prices cannot be promised now, so there is no button
}

// row is a line with its product.
type row struct {
	Product Product
	PricedLine
}

// showCheckout answers GET /checkout?sku=1&qty=2: the form with a quote.
//
// The key that names the customer's intent is part of the form's address. Reload, back and forward show the same key, so none of
// them can turn one intent into two orders; pressing "buy" on a product again starts a new one.
func (s *shop) showCheckout(w http.ResponseWriter, r *http.Request) error {
	b, err := readBasket(r.URL.Query())
	if err != nil {
		return err
	}
	rows, err := s.rows(r, b.Lines)
	if err != nil {
		return err
	}
	customer := s.customers.ensure(w, r)
	if b.Key == "" {
		b.Key = uuid.NewString()
		http.Redirect(w, r, b.Link(), http.StatusSeeOther)
		return nil
	}
	if s.used(r.Context(), customer, b.Key) {
		http.Redirect(w, r, "/checkout/"+b.Key, http.StatusSeeOther)
		return nil
	}
	v := checkoutView{basket: b, Rows: rows}
	quote, err := s.pricing.quote(r.Context(), b.Lines)
	switch status, _ := errors.AsType[*resilience.StatusError](err); {
	case err == nil:
		v.fill(quote)
	case status != nil && status.Status == http.StatusUnprocessableEntity:
		return noProduct().Wrap(err) // in the catalogue, but without a price
	default:
		s.markDegraded(w, r, []fallen{{"price", missing}})
	}
	return s.render(w, r, http.StatusOK, "checkout", "Checkout", v)
}

// used tells whether the key has been sent before: then its own page is the answer. If orders does not say so soon, the form is
// shown; sending it will find out.
func (s *shop) used(ctx context.Context, customer, key string) bool {
	ctx, cancel := context.WithTimeout(ctx, s.contract.look/4)
	defer cancel()
	_, err := s.orders.checkout(ctx, customer, key)
	return err == nil
}

// rows finds the products of lines; one that is not in the catalogue is a 404.
func (s *shop) rows(r *http.Request, lines []Line) ([]row, error) {
	rows := make([]row, len(lines))
	for i, l := range lines {
		p, err := s.catalogue.product(r.Context(), l.SKU)
		if err != nil {
			return nil, noProduct()
		}
		rows[i] = row{Product: p, PricedLine: PricedLine{SKU: l.SKU, Quantity: l.Quantity}}
	}
	return rows, nil
}

// fill puts the quote's amounts into the form. The quote was checked to be for the same lines; its order is its own.
func (v *checkoutView) fill(q Quote) {
	v.Quoted, v.Quote, v.Total, v.Currency, v.Expires = true, q.ID, q.Total, q.Currency, q.ExpiresAt
	for i := range v.Rows {
		for _, l := range q.Lines {
			if l.SKU == v.Rows[i].SKU {
				v.Rows[i].PricedLine = l
			}
		}
	}
}

// postCheckout answers POST /checkout: it places the order. Whatever happens, the customer ends at a page that says what became of
// it and what to do, and sending the same form again can never order twice.
func (s *shop) postCheckout(w http.ResponseWriter, r *http.Request) error {
	b, err := readOrderForm(w, r)
	if err != nil {
		return err
	}
	rows, err := s.rows(r, b.Lines)
	if err != nil {
		return err
	}
	in := intent{Customer: s.customers.ensure(w, r), Key: b.Key, QuoteID: b.Quote, Lines: b.Lines}
	order, err := s.orders.place(r.Context(), in)
	p, status, answered := refusalOf(err)
	switch {
	case err == nil && s.orders.forgetful:
		http.Redirect(w, r, "/orders/"+order.ID, http.StatusSeeOther) // the form's key leads nowhere: no attempt has named it
		return nil
	case err == nil, answered && status == http.StatusConflict, name(p) == "outcome-unknown", name(p) == "idempotency-key-reused":
		// Placed, still at it, nobody knows yet, or placed before with other lines: the key's own page tells.
		http.Redirect(w, r, "/checkout/"+b.Key, http.StatusSeeOther)
		return nil
	case answered && status == http.StatusUnprocessableEntity:
		return s.render(w, r, status, "refused", "Your order was not placed", s.refusedView(p, rows))
	case sent(err):
		http.Redirect(w, r, "/checkout/"+b.Key, http.StatusSeeOther) // it may have arrived: look before asking to send again
		return nil
	}
	s.Log.WarnContext(r.Context(), "order not placed", "error", err)
	w.Header().Set("Retry-After", "2")
	return s.render(w, r, http.StatusServiceUnavailable, "retry", "Your order is not placed yet", checkoutView{basket: b, Rows: rows})
}

// sent tells whether orders may have done, or may still do, what it was asked for, although no usable answer came back.
func sent(err error) bool {
	attempts := []error{err}
	if tried, ok := errors.AsType[*resilience.AttemptsError](err); ok {
		attempts = tried.Errs
	}
	return slices.ContainsFunc(attempts, mayStand)
}

func mayStand(attempt error) bool {
	if rejected, ok := errors.AsType[*resilience.Rejected](attempt); ok && rejected.Cause == nil {
		return false
	}
	if answer, ok := errors.AsType[*resilience.StatusError](attempt); ok {
		// With a Location orders has refused for now and kept the intent, which it carries out by itself.
		return answer.Header.Get("Location") != "" || answer.Status == http.StatusGatewayTimeout || answer.Status == http.StatusBadGateway
	}
	return true
}

// name is the last part of a problem's type: "insufficient-stock" of "/problems/insufficient-stock".
func name(p refusal) string { return strings.TrimPrefix(p.Type, "/problems/") }
