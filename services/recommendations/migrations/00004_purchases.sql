-- What happened since the seed: purchases as they arrive, their items until they are rolled into order_items,
-- and the day's best sellers.
--
-- +goose Up
CREATE TABLE purchases (
  event_id     uuid PRIMARY KEY,                                               -- the sender's; makes recording idempotent
  order_id     uuid NOT NULL,
  order_number bigint GENERATED ALWAYS AS IDENTITY (START WITH 1000000) UNIQUE, -- order_items.order_id of this purchase
  lines        jsonb NOT NULL CHECK (jsonb_typeof(lines) = 'array'),
  occurred_at  timestamptz NOT NULL,
  recorded_at  timestamptz NOT NULL DEFAULT now(),
  rolled_in_at timestamptz                                                     -- null: its items are still in live_items
);
CREATE INDEX purchases_to_roll_in ON purchases (order_number) WHERE rolled_in_at IS NULL;

CREATE TABLE live_items (
  order_number bigint NOT NULL REFERENCES purchases (order_number),
  product_id   int    NOT NULL CHECK (product_id > 0),
  qty          int    NOT NULL CHECK (qty > 0),
  PRIMARY KEY (order_number, product_id)
);
CREATE INDEX live_items_product ON live_items (product_id);

-- One row per product, so that the list costs a sort of 2,000 rows, not a count of 50,000. No index on sold: every
-- purchase changes it, and without one the update stays inside its page (HOT), for which fillfactor leaves room.
CREATE TABLE best_sellers (
  product_id int    PRIMARY KEY CHECK (product_id > 0),
  sold       bigint NOT NULL CHECK (sold >= 0)
) WITH (fillfactor = 50);

INSERT INTO best_sellers
SELECT product_id, sum(qty) FROM order_items WHERE order_day = DATE '2025-03-02' GROUP BY product_id;
