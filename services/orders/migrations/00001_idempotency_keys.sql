-- The table of watertight.example/pkg/idempotency, as of its first version. A test compares; a later version is a new migration.
-- +goose Up
-- +goose StatementBegin
CREATE TABLE idempotency_keys (
    scope        text        NOT NULL,
    key          text        NOT NULL,
    fingerprint  bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
    operation_id uuid        NOT NULL,                              -- survives takeovers: the id of every effect elsewhere
    state        smallint    NOT NULL DEFAULT 0 CHECK (state IN (0, 1)), -- 0 claimed, 1 done
    attempt      int         NOT NULL DEFAULT 1,                    -- fencing token
    lease_until  timestamptz NOT NULL,
    request      bytea,                                             -- what an abandoned key is driven on with
    status       int,
    headers      jsonb,
    body         bytea,
    created_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    PRIMARY KEY (scope, key),
    CHECK ((state = 1) = (status IS NOT NULL AND finished_at IS NOT NULL))
);

-- Both partial: the claimed are few (abandoned ones are looked for every second), the done are many (reaped by age).
CREATE INDEX idempotency_keys_claimed ON idempotency_keys (lease_until) WHERE state = 0;
CREATE INDEX idempotency_keys_done ON idempotency_keys (finished_at) WHERE state = 1;

-- The fence is in the database because the whole finish is one pipelined batch: no client stands between this check and
-- the commit, so a frozen client cannot hold the row, and an owner that was replaced aborts the transaction itself.
CREATE FUNCTION idempotency_finish(
    p_scope text, p_key text, p_attempt int, p_fingerprint bytea, p_status int, p_headers jsonb, p_body bytea
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE idempotency_keys
       SET state = 1, fingerprint = p_fingerprint, status = p_status, headers = p_headers, body = p_body,
           finished_at = clock_timestamp()
     WHERE scope = p_scope AND key = p_key AND state = 0 AND attempt = p_attempt;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'attempt % no longer owns this key', p_attempt USING ERRCODE = 'IK001';
    END IF;
END $$;
-- +goose StatementEnd
