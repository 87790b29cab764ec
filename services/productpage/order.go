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
	return s.render(w, r, http.StatusOK, "order", "Thank you", v)
}

func noOrder() *service.Problem {
	return service.NewProblem(http.StatusNotFound, "unknown-order", "You have no order under this number.")
}
