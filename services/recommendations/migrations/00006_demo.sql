-- Where the database has a role for the demo (deploy/postgres/demo.sql), it may reload a day of the history and gather its
-- statistics, to show what statistics gathered at the wrong moment do (demo/planflip). Elsewhere nothing happens here.
-- MAINTAIN is ANALYZE and VACUUM; before Postgres 17 only an owner could do them.
--
-- +goose Up
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'demo') THEN
    GRANT SELECT, INSERT, DELETE, MAINTAIN ON order_items TO demo;
    GRANT SELECT ON live_items TO demo; -- the other half of the query that it explains
  END IF;
END
$$;
-- +goose StatementEnd
