-- +goose Up
CREATE TABLE quotes (
  id         uuid        PRIMARY KEY,
  total      bigint      NOT NULL CHECK (total > 0),
  currency   text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at)
);
CREATE INDEX quotes_created ON quotes (created_at); -- the purge's way in

CREATE TABLE quote_lines (
  quote_id    uuid     NOT NULL REFERENCES quotes (id) ON DELETE CASCADE,
  position    smallint NOT NULL CHECK (position BETWEEN 1 AND 20),
  sku         int      NOT NULL CHECK (sku > 0),
  quantity    int      NOT NULL CHECK (quantity BETWEEN 1 AND 99),
  unit_amount bigint   NOT NULL CHECK (unit_amount > 0),
  amount      bigint   GENERATED ALWAYS AS (quantity * unit_amount) STORED,
  PRIMARY KEY (quote_id, position),
  UNIQUE (quote_id, sku)
);
