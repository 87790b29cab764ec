-- +goose Up
-- A tombstone ('abandoned') is an order that must never be: it occupies the id, so that a late confirmation fails on
-- the primary key. Everything but its id and state is NULL.
CREATE TABLE orders (
    id          uuid        PRIMARY KEY,
    state       text        NOT NULL CHECK (state IN ('confirmed', 'cancelled', 'abandoned')),
    scope       text,
    idem_key    text,
    fingerprint bytea,
    customer_id text,
    quote_id    uuid,
    total       bigint      CHECK (total >= 0),
    currency    text        CHECK (currency ~ '^[A-Z]{3}$'),
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (scope, idem_key), -- outlives the key's own row: one intent is one order, for ever
    CHECK ((state = 'abandoned') = (scope IS NULL)),
    CHECK (num_nulls(scope, idem_key, fingerprint, customer_id, quote_id, total, currency) IN (0, 7))
);

CREATE TABLE order_lines (
    order_id    uuid   NOT NULL REFERENCES orders,
    sku         int    NOT NULL CHECK (sku > 0),
    quantity    int    NOT NULL CHECK (quantity > 0),
    unit_amount bigint NOT NULL CHECK (unit_amount >= 0),
    amount      bigint NOT NULL CHECK (amount = unit_amount * quantity),
    PRIMARY KEY (order_id, sku)
);

-- The same transitions as in order.go: whoever writes SQL by hand is held to them as well.
-- +goose StatementBegin
CREATE FUNCTION orders_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (OLD.state = 'confirmed' AND NEW.state = 'cancelled') THEN
        RAISE EXCEPTION 'order %: % to % is not a transition', OLD.id, OLD.state, NEW.state USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER orders_transition BEFORE UPDATE OF state ON orders FOR EACH ROW
    WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION orders_transition();
