-- The audit log. These tables belong to no partner: an entry may be about nobody that is known. For the same reason, and
-- because a look at another table for each entry would cost more than the entry, they refer to none.
CREATE TABLE audit_chains (
    chain     BIGINT  NOT NULL PRIMARY KEY CHECK (chain > 0),
    opened_at BIGINT  NOT NULL,
    -- Over the row and the hash of the row before.
    hash      BYTEA   NOT NULL CHECK (length(hash) = 32)
);

CREATE TABLE audit_entries (
    chain      BIGINT  NOT NULL CHECK (chain > 0),
    number     BIGINT  NOT NULL CHECK (number > 0),
    -- Over the row and the hash of the entry before.
    hash       BYTEA   NOT NULL CHECK (length(hash) = 32),
    at         BIGINT  NOT NULL,
    actor      TEXT    NOT NULL CHECK (actor IN ('UNKNOWN', 'PARTNER', 'OPERATOR')),
    credential BYTEA   CHECK (length(credential) = 16),
    operator   TEXT,
    -- Whom it concerns.
    partner    BYTEA   CHECK (length(partner) = 16),
    source     TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    request_id TEXT,
    key_digest BYTEA   CHECK (length(key_digest) = 16),
    sealed     BOOLEAN NOT NULL,
    outcome    TEXT    NOT NULL CHECK (outcome IN ('BEGUN', 'DONE', 'REPEATED', 'REFUSED', 'FAILED')),
    status     BIGINT  CHECK (status BETWEEN 100 AND 599),
    code       TEXT,
    PRIMARY KEY (chain, number)
);

CREATE INDEX audit_entries_by_age ON audit_entries (at);

-- Nothing is changed or removed, not by a session that replays another server's changes either (ALWAYS).
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE TRIGGER audit_chains_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_chains
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
ALTER TABLE audit_chains ENABLE ALWAYS TRIGGER audit_chains_append_only;

CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_append_only;
