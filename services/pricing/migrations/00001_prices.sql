-- Money is a whole number of minor units (cents) and a currency, never a float.
--
-- +goose Up
CREATE TABLE prices (
  sku        int         PRIMARY KEY CHECK (sku > 0),
  amount     bigint      NOT NULL CHECK (amount BETWEEN 1 AND 100000000), -- at most a million: 20 lines of 99 stay below 2^53
  currency   text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),        -- ISO 4217
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- 2,000 prices inside their category's band, the same on every machine: integers and md5 only, because floats and
-- hashtext may differ between builds. Squaring the draw puts most products in the lower half of a band, as in a shop.
-- Below 100 a price ends in .90, .99, .00 or .50; from 100 on it is a whole amount that ends in 9, as printed on tags.
INSERT INTO prices (sku, amount, currency)
WITH band (category, low, high) AS (
  VALUES (0, 9, 89),   -- Kitchen
         (1, 6, 149),  -- Coffee & Tea
         (2, 4, 129),  -- Desk & Office
         (3, 19, 249), -- Lighting
         (4, 12, 149), -- Textiles
         (5, 5, 119),  -- Garden
         (6, 9, 299),  -- Outdoor & Camping
         (7, 8, 79),   -- Toys & Games
         (8, 3, 45),   -- Books & Paper
         (9, 4, 59),   -- Bath & Care
         (10, 7, 159), -- Storage
         (11, 6, 199)  -- Bikes & Tools
), draw AS (
  SELECT sku, ('x' || substr(md5('price ' || sku), 1, 6))::bit(24)::int % 1000 AS height, -- 0..999 within the band
         ('x' || substr(md5('price ' || sku), 7, 2))::bit(8)::int % 4          AS ending
  FROM generate_series(1, 2000) AS sku
), whole AS (
  SELECT sku, ending, low + (high - low) * height * height / 1000000 AS euros -- low..high-1
  FROM draw JOIN band ON category = (sku - 1) % 12
)
SELECT sku,
       CASE WHEN euros >= 100 THEN (euros - euros % 10 + 9) * 100
            ELSE euros * 100 + (ARRAY[90, 99, 0, 50])[1 + ending] END,
       'EUR'
FROM whole;

ANALYZE prices; -- so that the first reader's plan is the usual one
