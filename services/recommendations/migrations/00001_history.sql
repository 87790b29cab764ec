-- Sixty closed sales days of 2,000 orders each: 600,000 rows, the same on every machine.
--
-- A basket is an anchor product and four that go with it, at fixed distances. 12 is the number of categories,
-- so +12 and +24 stay in the anchor's category and +5 and +17 are its complements elsewhere. 7919 is prime to
-- 2000, so every product is an anchor equally often. The pairs that result have counts one can rank by.
--
-- +goose Up
CREATE TABLE order_items (
  order_id   bigint NOT NULL,
  product_id int    NOT NULL,
  order_day  date   NOT NULL,
  qty        int    NOT NULL DEFAULT 1
) WITH (autovacuum_enabled = false); -- statistics of this table change when somebody changes them, never by themselves

INSERT INTO order_items
SELECT o, 1 + (o::bigint * 7919 + step) % 2000, DATE '2025-01-01' + o / 2000, 1
FROM generate_series(0, 119999) AS o,
     (VALUES (0), (5), (12), (17), (24)) AS basket (step);
