-- The opening stock of 2,000 products, the same on every machine: md5 is
-- stable across Postgres versions, its own hash functions are not.

-- +goose Up
INSERT INTO items (sku, on_hand)
SELECT sku, CASE
    WHEN sku = 42      THEN 5000               -- the hot product of the shop
    WHEN sku % 97 = 0  THEN 0                  -- sold out
    WHEN sku % 41 = 0  THEN 1 + hash % 5       -- the last few
    ELSE                    400 + hash % 1001
END
FROM (SELECT sku, ('x' || left(md5(sku::text), 7))::bit(28)::integer AS hash
      FROM generate_series(1, 2000) AS sku) AS seed;

INSERT INTO movements (sku, kind, on_hand, reserved)
SELECT sku, 'receipt', on_hand, 0 FROM items WHERE on_hand > 0 ORDER BY sku;

INSERT INTO heartbeat (at) VALUES (clock_timestamp());

-- +goose Down
DELETE FROM heartbeat;
TRUNCATE movements, reservation_lines, reservations, items;
