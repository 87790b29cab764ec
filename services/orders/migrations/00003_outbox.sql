-- +goose Up
CREATE TABLE outbox (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never tailed by "id > last": ids commit out of order
    event_id   uuid        NOT NULL UNIQUE,                          -- the receiver's proof that it has seen this one
    order_id   uuid        NOT NULL REFERENCES orders,
    kind       text        NOT NULL CHECK (kind IN ('commit_reservation', 'purchase')),
    payload    jsonb       NOT NULL,
    attempts   int         NOT NULL DEFAULT 0,
    next_at    timestamptz NOT NULL DEFAULT now(),                   -- when due; while it is being sent, the end of the lease
    last_error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    done_at    timestamptz,
    parked_at  timestamptz,                                          -- poison: kept for a human, in nobody's way
    CHECK (done_at IS NULL OR parked_at IS NULL)
);

CREATE INDEX outbox_due ON outbox (kind, next_at) WHERE done_at IS NULL AND parked_at IS NULL;
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;
