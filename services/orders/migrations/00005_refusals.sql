-- attempts counts every lease, also those on a receiver that was away; only answers that refused the event make it poison.
-- +goose Up
ALTER TABLE outbox ADD COLUMN refusals int NOT NULL DEFAULT 0;
