package main

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

// showProgress answers GET /checkout/{key}: what became of an intent. The page asks again by itself until that is known.
func (s *shop) showProgress(w http.ResponseWriter, r *http.Request) error {
	key, customer := chi.URLParam(r, "key"), s.customers.id(r)
	if !isUUID(key) || customer == "" {
		return noCheckout()
	}
	c, err := s.orders.checkout(r.Context(), customer, key)
	_, status, _ := refusalOf(err)
	switch {
	case status == http.StatusNotFound:
		return noCheckout()
	case err == nil && c.State == "confirmed":
		http.Redirect(w, r, "/orders/"+c.OrderID, http.StatusSeeOther)
		return nil
	case err == nil && c.State == "refused":
		return s.render(w, r, http.StatusOK, "refused", "Your order was not placed", s.refusedView(c.Problem, nil))
	}
	// In progress, or orders cannot be asked just now: either way the answer is a moment away.
	return s.render(w, r, http.StatusOK, "progress", "Your order is on its way to us", progressView{Key: key, Blind: err != nil})
}

type progressView struct {
	Key   string
	Blind bool // orders cannot be asked
}

func noCheckout() *service.Problem {
	return service.NewProblem(http.StatusNotFound, "unknown-checkout", "No order has been placed under this number.")
}

// refusedView is what the page of a refused order needs.
type refusedView struct {
	Explained explanation
	Detail    string
	Short     []shortRow
	Again     string // address of a checkout that can succeed; "" if there is nothing left to order
}

// shortRow is a product of which there is too little.
type shortRow struct {
	Product              Product
	Requested, Available int
}

// refusedView explains a refusal and offers a new checkout, with what can be had. rows are the lines, if known.
func (s *shop) refusedView(p refusal, rows []row) refusedView {
	v := refusedView{Explained: s.problems[name(p)], Detail: p.Detail}
	left := map[int]int{}
	for _, sh := range p.Short {
		if product, ok := s.catalogue.lookup(sh.SKU); ok && len(v.Short) < maxLines {
			v.Short = append(v.Short, shortRow{product, max(0, sh.Requested), max(0, sh.Available)})
			left[sh.SKU] = sh.Available
		}
	}
	var again basket // without a key: what was refused is over, this is a new intent
	for _, r := range rows {
		quantity := r.Quantity
		if n, short := left[r.SKU]; short {
			quantity = min(quantity, n)
		}
		if quantity > 0 {
			again.Lines = append(again.Lines, Line{r.SKU, quantity})
		}
	}
	if len(again.Lines) > 0 {
		v.Again = again.Link()
	}
	return v
}
