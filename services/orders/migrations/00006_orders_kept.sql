-- The rest of an order's life, for whoever writes SQL by hand: how it begins, and that it never ends. (00002 guards the transitions.)
-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION orders_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = '23514';
END $$;
-- +goose StatementEnd
CREATE TRIGGER orders_born BEFORE INSERT ON orders FOR EACH ROW WHEN (NEW.state NOT IN ('confirmed', 'abandoned'))
    EXECUTE FUNCTION orders_refuse('an order is born confirmed, or abandoned as a tombstone');
CREATE TRIGGER orders_kept BEFORE DELETE OR TRUNCATE ON orders FOR EACH STATEMENT
    EXECUTE FUNCTION orders_refuse('an order is cancelled, never deleted');
