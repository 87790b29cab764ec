package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// prices returns the prices of the SKUs that have one, by SKU.
func (s *store) prices(ctx context.Context, skus []int) ([]price, error) {
	return query(ctx, s, pgx.RowToStructByPos[price], `SELECT sku, amount, currency FROM prices WHERE sku = ANY($1::int[]) ORDER BY sku`, skus)
}

// insertQuote prices the lines and writes the quote in one statement, so that all its amounts are of one moment. It writes
// nothing unless every SKU has a price and all prices are in one currency. What it returns says which: the priced lines, with
// total and expiry when there is a quote.
const insertQuote = `
WITH priced AS (
  SELECT asked.position, asked.sku, asked.quantity, p.amount AS unit_amount, p.currency
  FROM unnest($2::int[], $3::int[]) WITH ORDINALITY AS asked (sku, quantity, position)
  JOIN prices p USING (sku)
), quote AS (
  INSERT INTO quotes (id, total, currency, expires_at)
  SELECT $1, sum(quantity * unit_amount), min(currency), now() + $4::interval
  FROM priced
  HAVING count(*) = cardinality($2::int[]) AND count(DISTINCT currency) = 1
  RETURNING id, total, currency, expires_at
), line AS (
  INSERT INTO quote_lines (quote_id, position, sku, quantity, unit_amount)
  SELECT quote.id, position, sku, quantity, unit_amount FROM quote, priced
)
SELECT sku, quantity, unit_amount, quantity * unit_amount, quote.total, quote.currency, quote.expires_at
FROM priced LEFT JOIN quote ON true
ORDER BY position`

// row is a line with what its quote says as a whole; the latter is null when there is no quote.
type row struct {
	line
	Total     *int64
	Currency  *string
	ExpiresAt *time.Time
}

// quote writes a quote for the lines and returns one row for each line that has a price.
func (s *store) quote(ctx context.Context, id uuid.UUID, lines []line, ttl time.Duration) ([]row, error) {
	skus, quantities := make([]int, len(lines)), make([]int, len(lines))
	for i, l := range lines {
		skus[i], quantities[i] = l.SKU, l.Quantity
	}
	return query(ctx, s, pgx.RowToStructByPos[row], insertQuote, id, skus, quantities, ttl)
}

const selectQuote = `
SELECT l.sku, l.quantity, l.unit_amount, l.amount, q.total, q.currency, q.expires_at
FROM quotes q JOIN quote_lines l ON l.quote_id = q.id
WHERE q.id = $1
ORDER BY l.position`

// stored returns the rows of a quote, none when there is no such quote.
func (s *store) stored(ctx context.Context, id uuid.UUID) ([]row, error) {
	return query(ctx, s, pgx.RowToStructByPos[row], selectQuote, id)
}

// deleteQuotes skips what another replica is deleting.
const deleteQuotes = `
DELETE FROM quotes WHERE id IN (
  SELECT id FROM quotes
  WHERE created_at < now() - $1::interval
  ORDER BY created_at LIMIT $2
  FOR UPDATE SKIP LOCKED
)
RETURNING id`

// purge deletes at most limit quotes made longer than keep ago, and returns how many it deleted.
func (s *store) purge(ctx context.Context, keep time.Duration, limit int) (int, error) {
	ids, err := query(ctx, s, pgx.RowTo[uuid.UUID], deleteQuotes, keep, limit)
	return len(ids), err
}
