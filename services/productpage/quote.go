package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// Line is a product and how many of it.
type Line struct {
	SKU      int `json:"sku"`
	Quantity int `json:"quantity"`
}

// Quote is a price promised until ExpiresAt.
type Quote struct {
	ID        string       `json:"quote_id"`
	Lines     []PricedLine `json:"lines"`
	Total     int64        `json:"total"`
	Currency  string       `json:"currency"`
	ExpiresAt time.Time    `json:"expires_at"`
}

// PricedLine is a Line with its amounts in minor units.
type PricedLine struct {
	SKU        int   `json:"sku"`
	Quantity   int   `json:"quantity"`
	UnitAmount int64 `json:"unit_amount"`
	Amount     int64 `json:"amount"`
}

// quote asks for a new quote. Retrying is harmless, though it is a POST: a quote nobody uses costs nothing and expires.
func (p *pricing) quote(ctx context.Context, lines []Line) (Quote, error) {
	body, err := json.Marshal(map[string]any{"lines": lines})
	if err != nil {
		return Quote{}, err
	}
	return resilience.Call(ctx, p.dep, func(ctx context.Context) (Quote, error) {
		var q Quote
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/quotes", bytes.NewReader(body))
		if err != nil {
			return q, err
		}
		req.Header.Set("Content-Type", "application/json")
		if err := service.CallJSON(p.dep.HTTPClient(), req, &q); err != nil {
			return q, err
		}
		return q, q.check(lines)
	})
}

// check makes sure that the quote is for these lines and that its sums are right: the customer agrees to them by pressing the button.
func (q Quote) check(lines []Line) error {
	if !isUUID(q.ID) || len(q.Lines) != len(lines) || !q.ExpiresAt.After(time.Now()) {
		return nonsense("quote %.40q with %d lines for %d, until %v", q.ID, len(q.Lines), len(lines), q.ExpiresAt)
	}
	wanted := map[int]int{}
	for _, l := range lines {
		wanted[l.SKU] = l.Quantity
	}
	var total int64
	for _, l := range q.Lines {
		if wanted[l.SKU] != l.Quantity || !saneMoney(l.UnitAmount, q.Currency) || l.Amount != l.UnitAmount*int64(l.Quantity) {
			return nonsense("quote line %+v", l)
		}
		delete(wanted, l.SKU)
		total += l.Amount
	}
	if total != q.Total {
		return nonsense("quote of %d adds up to %d", q.Total, total)
	}
	return nil
}
