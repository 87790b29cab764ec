package main

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

// orderView is what the order page's template needs.
type orderView struct {
	Order
	Rows []row
}

// Cancelled tells whether the customer took the order back.
func (v orderView) Cancelled() bool { return v.State == "cancelled" }

// showOrder answers GET /orders/{id} to the customer who placed it; for everybody else there is no such order.
func (s *shop) showOrder(w http.ResponseWriter, r *http.Request) error {
	id, customer := chi.URLParam(r, "id"), s.customers.id(r)
	if !isUUID(id) || customer == "" {
		return noOrder()
	}
	order, err := s.orders.order(r.Context(), customer, id)
	if _, status, _ := refusalOf(err); status == http.StatusNotFound {
		return noOrder()
	}
	if err != nil {
		return err // a 503: what somebody has bought is nothing to guess at
	}
	v := orderView{Order: order}
	for _, l := range order.Lines {
		p, ok := s.catalogue.lookup(l.SKU)
		if !ok {
			p = Product{ID: l.SKU, Name: "An article we no longer sell"}
		}
		v.Rows = append(v.Rows, row{p, l})
	}
	title := "Thank you"
	if v.Cancelled() {
		title = "Your order is cancelled"
	}
	return s.render(w, r, http.StatusOK, "order", title, v)
}

// postCancel answers POST /orders/{id}/cancel: the order's page then shows what it is now. When the answer was lost on the way, that
// page is where to look, too; pressing the button again is safe.
func (s *shop) postCancel(w http.ResponseWriter, r *http.Request) error {
	id, customer := chi.URLParam(r, "id"), s.customers.id(r)
	if !isUUID(id) || customer == "" {
		return noOrder()
	}
	_, err := s.orders.cancel(r.Context(), customer, id)
	_, status, _ := refusalOf(err)
	switch {
	case status == http.StatusNotFound:
		return noOrder()
	case err != nil && !sent(err):
		return err // a 503: nothing was changed
	}
	http.Redirect(w, r, "/orders/"+id, http.StatusSeeOther)
	return nil
}

func noOrder() *service.Problem {
	return service.NewProblem(http.StatusNotFound, "unknown-order", "You have no order under this number.")
}
