package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// salesDay is the day that is open: the one migrations/00002_sales_day.sql fills and purchases are rolled into. It is a value of
// the statement, never a subquery, because the planner estimates a day it can see quite differently from one it cannot.
const salesDay = "2025-03-02"

// selectBoughtTogether counts the pairs of the open day: in the history, and in the purchases not yet rolled into it. It is one
// statement so that it sees each purchase in exactly one of the two.
const selectBoughtTogether = `
SELECT product_id, count(*) AS together
FROM (
  SELECT b.product_id
  FROM order_items a
  JOIN order_items b ON b.order_id = a.order_id AND b.product_id <> a.product_id
  WHERE a.product_id = $1 AND a.order_day = $2::date AND b.order_day = $2::date
  UNION ALL
  SELECT b.product_id
  FROM live_items a
  JOIN live_items b ON b.order_number = a.order_number AND b.product_id <> a.product_id
  WHERE a.product_id = $1
) AS pairs
GROUP BY product_id
ORDER BY together DESC, product_id
LIMIT $3`

// boughtTogether returns at most limit products, the most frequent first.
func (s *store) boughtTogether(ctx context.Context, product, limit int) ([]pair, error) {
	return query(ctx, s, pgx.RowToStructByPos[pair], selectBoughtTogether, product, salesDay, limit)
}

// bestSellers returns at most limit products, the one sold most first.
func (s *store) bestSellers(ctx context.Context, limit int) ([]seller, error) {
	return query(ctx, s, pgx.RowToStructByPos[seller], `SELECT product_id, sold FROM best_sellers ORDER BY sold DESC, product_id LIMIT $1`, limit)
}

// insertPurchase records event, items and sales, or nothing when the event is known. Best sellers are locked in the order of
// their ids: two purchases of the same products cannot deadlock.
const insertPurchase = `
WITH event AS (
  INSERT INTO purchases (event_id, order_id, lines, occurred_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (event_id) DO NOTHING
  RETURNING order_number, lines
), item AS (
  INSERT INTO live_items (order_number, product_id, qty)
  SELECT order_number, sku, quantity FROM event, jsonb_to_recordset(lines) AS line (sku int, quantity int)
  RETURNING product_id, qty
), sale AS (
  INSERT INTO best_sellers AS b (product_id, sold)
  SELECT product_id, qty FROM item ORDER BY product_id
  ON CONFLICT (product_id) DO UPDATE SET sold = b.sold + excluded.sold
)
SELECT order_number FROM event`

// record takes note of p and reports whether it was new.
func (s *store) record(ctx context.Context, p purchase) (created bool, err error) {
	numbers, err := query(ctx, s, pgx.RowTo[int64], insertPurchase, p.EventID, p.OrderID, p.Lines, p.OccurredAt)
	return len(numbers) > 0, err
}

// purchase returns the purchase of an event, in a list that is empty when the event is not known.
func (s *store) purchase(ctx context.Context, event uuid.UUID) ([]purchase, error) {
	return query(ctx, s, pgx.RowToStructByPos[purchase], `SELECT event_id, order_id, lines, occurred_at FROM purchases WHERE event_id = $1`, event)
}

// moveIntoHistory is exactly once: the rows leave live_items and appear in order_items in the same transaction, and a purchase
// another replica has locked is skipped. Whole purchases move, so no pair is ever half here and half there.
const moveIntoHistory = `
WITH batch AS (
  SELECT order_number FROM purchases
  WHERE rolled_in_at IS NULL
  ORDER BY order_number LIMIT $1
  FOR UPDATE SKIP LOCKED
), mark AS (
  UPDATE purchases p SET rolled_in_at = now() FROM batch WHERE p.order_number = batch.order_number
), moved AS (
  DELETE FROM live_items l USING batch WHERE l.order_number = batch.order_number
  RETURNING l.order_number, l.product_id, l.qty
), added AS (
  INSERT INTO order_items (order_id, product_id, order_day, qty)
  SELECT order_number, product_id, $2::date, qty FROM moved
)
SELECT order_number FROM batch`

// rollIn moves at most limit purchases into the history and returns how many it moved.
func (s *store) rollIn(ctx context.Context, limit int) (int, error) {
	numbers, err := query(ctx, s, pgx.RowTo[int64], moveIntoHistory, limit, salesDay)
	return len(numbers), err
}
