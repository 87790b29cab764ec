package planflip

// The query that recommendations really runs, and its values. A copy, because demo knows the shop only from outside; a test
// compares it with the service's source.
const (
	salesDay = "2025-03-02"

	selectBoughtTogether = `
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

	limit = 6 // what a product page asks for
)

// Hottest is the product with the most sales of the day: 856 of 49,997 rows. Most others have 25.
const Hottest = 42
