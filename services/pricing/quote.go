package main

import (
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
	maxLines    = 20
	maxQuantity = 99
)

// quote is what the lines cost together, and until when. Amounts are minor units of Currency.
type quote struct {
	ID        uuid.UUID `json:"quote_id"`
	Lines     []line    `json:"lines"`
	Total     int64     `json:"total"`
	Currency  string    `json:"currency"`
	ExpiresAt time.Time `json:"expires_at"`
}

// line is one product of a quote. A client names SKU and Quantity, never an amount.
type line struct {
	SKU        int   `json:"sku"`
	Quantity   int   `json:"quantity"`
	UnitAmount int64 `json:"unit_amount"`
	Amount     int64 `json:"amount"` // Quantity times UnitAmount
}

// makeQuote answers POST /quotes.
func makeQuote(s *store, ttl time.Duration) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		lines, err := linesOf(r)
		if err != nil {
			return err
		}
		id, err := uuid.NewV7() // in order of time, so that new quotes share the pages of an index
		if err != nil {
			return err
		}
		rows, err := s.quote(r.Context(), id, lines, ttl)
		if err != nil {
			return err
		}
		if len(rows) < len(lines) {
			return unknownSKUs(lines, rows)
		}
		q, ok := quoteOf(id, rows)
		if !ok {
			return service.NewProblem(http.StatusUnprocessableEntity, "mixed-currencies", "These products are sold in different currencies.")
		}
		w.Header().Set("Location", "/quotes/"+id.String())
		return service.WriteJSON(w, http.StatusCreated, q)
	}
}

// showQuote answers GET /quotes/{quote_id}, also for a quote that is no longer good: whoever asks compares expires_at.
func showQuote(s *store) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := uuid.Parse(chi.URLParam(r, "quote_id"))
		if err != nil {
			return quoteNotFound()
		}
		rows, err := s.stored(r.Context(), id)
		if err != nil {
			return err
		}
		q, ok := quoteOf(id, rows)
		if !ok {
			return quoteNotFound()
		}
		return service.WriteJSON(w, http.StatusOK, q)
	}
}

// linesOf reads and checks the lines of a request.
func linesOf(r *http.Request) ([]line, error) {
	var body struct {
		Lines []struct {
			SKU      int `json:"sku"`
			Quantity int `json:"quantity"`
		} `json:"lines"`
	}
	if err := service.DecodeJSON(r, &body); err != nil {
		return nil, err
	}
	if len(body.Lines) < 1 || len(body.Lines) > maxLines {
		return nil, badLines(fmt.Sprintf("lines must be 1 to %d.", maxLines))
	}
	lines := make([]line, 0, len(body.Lines))
	for i, l := range body.Lines {
		switch {
		case l.SKU < 1 || l.SKU > math.MaxInt32:
			return nil, badLines(fmt.Sprintf("lines[%d].sku must be a positive whole number.", i))
		case l.Quantity < 1 || l.Quantity > maxQuantity:
			return nil, badLines(fmt.Sprintf("lines[%d].quantity must be 1 to %d.", i, maxQuantity))
		case slices.ContainsFunc(lines, func(earlier line) bool { return earlier.SKU == l.SKU }):
			return nil, badLines(fmt.Sprintf("lines[%d].sku is in an earlier line.", i))
		}
		lines = append(lines, line{SKU: l.SKU, Quantity: l.Quantity})
	}
	return lines, nil
}

// quoteOf puts a quote together from its rows; false when they make none.
func quoteOf(id uuid.UUID, rows []row) (quote, bool) {
	if len(rows) == 0 || rows[0].Total == nil {
		return quote{}, false
	}
	q := quote{ID: id, Total: *rows[0].Total, Currency: *rows[0].Currency, ExpiresAt: rows[0].ExpiresAt.UTC()}
	for _, r := range rows {
		q.Lines = append(q.Lines, r.line)
	}
	return q, true
}

// unknownSKUs is the problem that names the lines without a price.
func unknownSKUs(lines []line, rows []row) error {
	unknown := []int{}
	for _, l := range lines {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.SKU == l.SKU }) {
			unknown = append(unknown, l.SKU)
		}
	}
	return service.NewProblem(http.StatusUnprocessableEntity, "unknown-sku", "Some of these products are not sold here.").WithExtra("unknown", unknown)
}

func badLines(detail string) error {
	return service.NewProblem(http.StatusBadRequest, "invalid-quote", detail)
}

func quoteNotFound() error {
	return service.NewProblem(http.StatusNotFound, "quote-not-found", "There is no such quote.")
}
