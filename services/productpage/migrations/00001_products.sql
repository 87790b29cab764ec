-- +goose Up
CREATE TABLE products (
  id          integer PRIMARY KEY CHECK (id > 0), -- the SKU of every other service
  category    integer NOT NULL CHECK (category >= 0),
  kind        text    NOT NULL CHECK (kind ~ '^[a-z]{1,32}$'),
  name        text    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description text    NOT NULL,
  material    text    NOT NULL,
  colour      text    NOT NULL,
  size        text    NOT NULL
);

-- +goose Down
DROP TABLE products;
