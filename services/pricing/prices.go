package main

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"watertight.example/pkg/service"
)

// maxSKUs is the most products one request may ask about: a page full of them.
const maxSKUs = 50

// price is what one piece costs, in minor units (cents) of an ISO 4217 currency.
type price struct {
	SKU      int    `json:"sku"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// showPrices answers GET /prices?sku=1&sku=2. A SKU without a price is listed as unknown and hurts no other.
func showPrices(s *store) func(http.ResponseWriter, *http.Request) error {
	type answer struct {
		Prices  []price `json:"prices"`
		Unknown []int   `json:"unknown"`
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		skus, err := skusOf(r)
		if err != nil {
			return err
		}
		prices, err := s.prices(r.Context(), skus)
		if err != nil {
			return err
		}
		known := map[int]bool{}
		for _, p := range prices {
			known[p.SKU] = true
		}
		unknown := slices.DeleteFunc(skus, func(sku int) bool { return known[sku] })
		return service.WriteJSON(w, http.StatusOK, answer{prices, unknown})
	}
}

// skusOf reads the query's SKUs, in order and without repetitions.
func skusOf(r *http.Request) ([]int, error) {
	values := r.URL.Query()["sku"]
	if len(values) < 1 || len(values) > maxSKUs {
		return nil, badSKU(fmt.Sprintf("Name 1 to %d products, each as sku=N.", maxSKUs))
	}
	skus := make([]int, len(values))
	for i, v := range values {
		sku, err := strconv.Atoi(v)
		if err != nil || sku < 1 || sku > math.MaxInt32 {
			return nil, badSKU("A sku is a positive whole number.")
		}
		skus[i] = sku
	}
	slices.Sort(skus)
	return slices.Compact(skus), nil
}

func badSKU(detail string) error {
	return service.NewProblem(http.StatusBadRequest, "invalid-parameter", detail)
}
