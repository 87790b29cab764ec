-- Cancelling a confirmed order is a new state and an event that brings its goods back, never a deletion.
-- +goose Up
ALTER TABLE outbox DROP CONSTRAINT outbox_kind_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_kind_check CHECK (kind IN ('commit_reservation', 'purchase', 'restock'));
-- Goods come back once per order, whoever writes the event.
CREATE UNIQUE INDEX outbox_one_restock ON outbox (order_id) WHERE kind = 'restock';
