-- A cancelled order brings its goods back. The sale stays what it was; the return is an event of its own, once per order.

-- +goose Up
CREATE TABLE restocks (
    event_id uuid PRIMARY KEY,                                -- orders' event: told twice is done once
    order_id uuid        NOT NULL UNIQUE REFERENCES reservations,
    at       timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON restocks
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('what came back came back');

ALTER TABLE movements DROP CONSTRAINT movements_check;
ALTER TABLE movements ADD CONSTRAINT movements_check CHECK (CASE kind
    WHEN 'receipt' THEN on_hand > 0 AND reserved = 0 AND order_id IS NULL
    WHEN 'reserve' THEN on_hand = 0 AND reserved > 0 AND order_id IS NOT NULL
    WHEN 'commit'  THEN on_hand < 0 AND reserved = on_hand AND order_id IS NOT NULL
    WHEN 'release' THEN on_hand = 0 AND reserved < 0 AND order_id IS NOT NULL
    WHEN 'return'  THEN on_hand > 0 AND reserved = 0 AND order_id IS NOT NULL
    ELSE false END);

-- An order takes an item once, gives it up once, by commit or by release, and brings it back at most once.
DROP INDEX movements_once;
CREATE UNIQUE INDEX movements_once ON movements (order_id, sku, (CASE kind WHEN 'reserve' THEN 1 WHEN 'return' THEN 3 ELSE 2 END));

-- +goose Down
-- Only while nothing came back: the ledger forgets nothing.
DROP TABLE restocks;
ALTER TABLE movements DROP CONSTRAINT movements_check;
ALTER TABLE movements ADD CONSTRAINT movements_check CHECK (CASE kind
    WHEN 'receipt' THEN on_hand > 0 AND reserved = 0 AND order_id IS NULL
    WHEN 'reserve' THEN on_hand = 0 AND reserved > 0 AND order_id IS NOT NULL
    WHEN 'commit'  THEN on_hand < 0 AND reserved = on_hand AND order_id IS NOT NULL
    WHEN 'release' THEN on_hand = 0 AND reserved < 0 AND order_id IS NOT NULL
    ELSE false END);
DROP INDEX movements_once;
CREATE UNIQUE INDEX movements_once ON movements (order_id, sku, (kind = 'reserve'));
