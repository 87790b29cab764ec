package main

import (
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

// lastProduct is the highest product id of the shop; ids start at 1.
const lastProduct = 2000

// pair is a product and how many of the open day's orders held it together with the one asked about.
type pair struct {
	ProductID int   `json:"product_id"`
	Together  int64 `json:"together"`
}

// seller is a product and how many pieces of it the open day has sold.
type seller struct {
	ProductID int   `json:"product_id"`
	Sold      int64 `json:"sold"`
}

// showBoughtTogether answers GET /products/{id}/bought-together?limit=8.
func showBoughtTogether(s *store) func(http.ResponseWriter, *http.Request) error {
	type answer struct {
		ProductID int    `json:"product_id"`
		Items     []pair `json:"items"`
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		product, err := strconv.Atoi(chi.URLParam(r, "id"))
		if err != nil || product < 1 || product > lastProduct {
			return service.NewProblem(http.StatusNotFound, "unknown-product", "There is no such product.")
		}
		limit, err := limitOf(r, 8)
		if err != nil {
			return err
		}
		items, err := s.boughtTogether(r.Context(), product, limit)
		if err != nil {
			return err
		}
		return service.WriteJSON(w, http.StatusOK, answer{product, items})
	}
}

// showBestSellers answers GET /best-sellers?limit=12.
func showBestSellers(s *store) func(http.ResponseWriter, *http.Request) error {
	type answer struct {
		Items []seller `json:"items"`
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		limit, err := limitOf(r, 12)
		if err != nil {
			return err
		}
		items, err := s.bestSellers(r.Context(), limit)
		if err != nil {
			return err
		}
		return service.WriteJSON(w, http.StatusOK, answer{items})
	}
}

// limitOf reads the query's limit; more than 20 items fit no page.
func limitOf(r *http.Request, usual int) (int, error) {
	values, given := r.URL.Query()["limit"]
	if !given {
		return usual, nil
	}
	limit, err := strconv.Atoi(values[0])
	if err != nil || len(values) > 1 || limit < 1 || limit > 20 {
		return 0, service.NewProblem(http.StatusBadRequest, "invalid-parameter", "limit must be one number from 1 to 20.")
	}
	return limit, nil
}
