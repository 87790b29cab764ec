-- Counters are the truth, reservations are the holds, movements say how the
-- counters came to be. What the code promises, the schema refuses to break.

-- +goose Up
CREATE TABLE items (
    sku      integer PRIMARY KEY CHECK (sku > 0),
    on_hand  integer NOT NULL CHECK (on_hand >= 0),
    reserved integer NOT NULL DEFAULT 0,
    -- One more with each movement: orders two readings of the same item
    -- whatever the clocks say (the Redis snapshot compares it).
    version  bigint  NOT NULL DEFAULT 1,
    CONSTRAINT never_oversold CHECK (reserved BETWEEN 0 AND on_hand)
) WITH (fillfactor = 70); -- room for the next versions of a hot row on its own page

CREATE TABLE reservations (
    id         uuid PRIMARY KEY, -- the order's id: reserving twice is reserving once
    state      text        NOT NULL CHECK (state IN ('held', 'committed', 'released')),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL, -- from here on the sweeper asks orders what became of it
    settled_at timestamptz,
    sweep_at   timestamptz NOT NULL, -- the next time it asks: lease and back-off in one column
    sweeps     integer     NOT NULL DEFAULT 0,
    CHECK ((state = 'held') = (settled_at IS NULL))
);
CREATE INDEX reservations_due ON reservations (sweep_at) WHERE state = 'held';

CREATE TABLE reservation_lines (
    reservation_id uuid    NOT NULL REFERENCES reservations,
    sku            integer NOT NULL REFERENCES items,
    quantity       integer NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (reservation_id, sku)
);

CREATE TABLE movements (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL DEFAULT now(),
    sku      integer     NOT NULL REFERENCES items,
    kind     text        NOT NULL,
    on_hand  integer     NOT NULL, -- change of items.on_hand
    reserved integer     NOT NULL, -- change of items.reserved
    order_id uuid REFERENCES reservations,
    CHECK (CASE kind
        WHEN 'receipt' THEN on_hand > 0 AND reserved = 0 AND order_id IS NULL
        WHEN 'reserve' THEN on_hand = 0 AND reserved > 0 AND order_id IS NOT NULL
        WHEN 'commit'  THEN on_hand < 0 AND reserved = on_hand AND order_id IS NOT NULL
        WHEN 'release' THEN on_hand = 0 AND reserved < 0 AND order_id IS NOT NULL
        ELSE false END)
);
-- An order takes an item once and gives it up once, by commit or by release.
CREATE UNIQUE INDEX movements_once ON movements (order_id, sku, (kind = 'reserve'));

-- +goose StatementBegin
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd

-- The state machine: held -> committed | released, and a reservation may be
-- born released (a tombstone). The WHEN clause keeps legal writes free of cost.
CREATE TRIGGER terminal BEFORE UPDATE OF state ON reservations
    FOR EACH ROW WHEN (old.state <> 'held') EXECUTE FUNCTION refuse('committed and released are final');
CREATE TRIGGER born BEFORE INSERT ON reservations
    FOR EACH ROW WHEN (new.state = 'committed') EXECUTE FUNCTION refuse('nothing is committed that was not held');
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON movements
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('the ledger is append-only');

-- One row, rewritten each second on the primary. Replayed by the replica it
-- tells how old the replica's answers are; its own clock could not.
CREATE TABLE heartbeat (
    id boolean PRIMARY KEY DEFAULT true CHECK (id),
    at timestamptz NOT NULL
);

-- Every item whose three accounts differ: the counters, the ledger's sums and
-- the open holds. Empty, always; one statement sees one instant.
CREATE VIEW discrepancies AS
SELECT i.sku, i.on_hand, i.reserved,
       coalesce(m.on_hand, 0) AS ledger_on_hand, coalesce(m.reserved, 0) AS ledger_reserved, coalesce(h.held, 0) AS held
FROM items i
LEFT JOIN (SELECT sku, sum(on_hand) AS on_hand, sum(reserved) AS reserved FROM movements GROUP BY sku) m USING (sku)
LEFT JOIN (SELECT l.sku, sum(l.quantity) AS held
           FROM reservation_lines l JOIN reservations r ON r.id = l.reservation_id AND r.state = 'held'
           GROUP BY l.sku) h USING (sku)
WHERE (i.on_hand, i.reserved, i.reserved)
      IS DISTINCT FROM (coalesce(m.on_hand, 0), coalesce(m.reserved, 0), coalesce(h.held, 0));

-- +goose Down
DROP VIEW discrepancies;
DROP TABLE heartbeat, movements, reservation_lines, reservations, items;
DROP FUNCTION refuse();
