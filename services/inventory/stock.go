package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// Stock is what the shop window shows: how much of each item can be bought.
type Stock struct {
	AsOf    time.Time `json:"as_of"` // the database's clock: the counts are at least as recent as this
	Items   []Item    `json:"stock"`
	Unknown []int32   `json:"unknown"`
}

// Item is one item's availability: what is on hand and not reserved.
type Item struct {
	SKU       int32 `json:"sku"`
	Available int32 `json:"available"`
}

// findStock asks for the age of the answer in the same snapshot as the answer.
// A primary is current; a replica is as old as the last heartbeat it replayed,
// which its own now() would deny. A replica without a heartbeat answers NULL,
// an error: who cannot say how old its counts are is not asked for them.
const findStock = `
SELECT CASE WHEN pg_is_in_recovery() THEN (SELECT at FROM heartbeat) ELSE now() END, i.sku, i.on_hand - i.reserved
FROM (VALUES (1)) AS one LEFT JOIN items i ON i.sku = ANY($1) ORDER BY i.sku`

// readStock reads the counts of the given items, sorted by SKU.
func readStock(ctx context.Context, db *pgxpool.Pool, skus []int32) (Stock, error) {
	st := Stock{Items: []Item{}, Unknown: []int32{}}
	rows, err := db.Query(ctx, findStock, skus)
	if err != nil {
		return st, err
	}
	defer rows.Close()
	for rows.Next() {
		var sku, available *int32
		if err := rows.Scan(&st.AsOf, &sku, &available); err != nil {
			return st, err
		}
		if sku != nil { // NULL: none of the items exists
			st.Items = append(st.Items, Item{SKU: *sku, Available: *available})
		}
	}
	st.AsOf = st.AsOf.UTC()
	for _, sku := range skus {
		if !slices.ContainsFunc(st.Items, func(i Item) bool { return i.SKU == sku }) {
			st.Unknown = append(st.Unknown, sku)
		}
	}
	return st, rows.Err()
}

// Stock reads the counts from the primary.
func (s *store) Stock(ctx context.Context, skus []int32) (Stock, error) {
	return resilience.Call(ctx, s.dep, func(ctx context.Context) (Stock, error) { return readStock(ctx, s.db, skus) })
}

const maxStockSKUs = 50

// stockReader answers for the shop window.
type stockReader interface {
	Stock(ctx context.Context, skus []int32) (Stock, error)
}

// getStock answers GET /stock?sku=1&sku=2[&fresh=1].
func (a *api) getStock(w http.ResponseWriter, r *http.Request) error {
	skus, fresh, err := parseStockQuery(r.URL.Query())
	if err != nil {
		return err
	}
	read := a.window.Stock
	if fresh {
		read = a.store.Stock
	}
	st, err := read(r.Context(), skus)
	if err != nil {
		return err
	}
	return service.WriteJSON(w, http.StatusOK, st)
}

func parseStockQuery(q url.Values) (skus []int32, fresh bool, err error) {
	if n := len(q["sku"]); n == 0 || n > maxStockSKUs {
		return nil, false, invalid("Ask for 1 to %d items: ?sku=1&sku=2.", maxStockSKUs)
	}
	for _, v := range q["sku"] {
		sku, err := strconv.ParseInt(v, 10, 32)
		if err != nil || sku < 1 {
			return nil, false, invalid("sku must be a whole number from 1 to %d.", maxSKU)
		}
		skus = append(skus, int32(sku))
	}
	slices.Sort(skus)
	skus = slices.Compact(skus) // asking twice is harmless
	switch f := q["fresh"]; {
	case len(f) == 0:
		return skus, false, nil
	case len(f) == 1 && f[0] == "1":
		return skus, true, nil
	}
	return nil, false, invalid("fresh must be 1 or left out.")
}
