-- Scoped credentials: programs of a partner that may do a part of what it may, with sessions of their own; and audit entries
-- that name who acted.

-- A revoked one stays, so that what it did can be explained. The secret is a sealing key, encrypted under the master key.
CREATE TABLE credentials (
    partner_id       BLOB    NOT NULL REFERENCES partners (id),
    id               BLOB    NOT NULL CHECK (length(id) = 16),
    name             TEXT    NOT NULL,
    -- With commas between them.
    scopes           TEXT    NOT NULL,
    -- Networks in CIDR notation with commas between them, from which alone it is accepted. NULL: from anywhere.
    addresses        TEXT,
    login            TEXT    NOT NULL,
    api_key_hash     BLOB    NOT NULL UNIQUE CHECK (length(api_key_hash) = 32),
    password_hash    TEXT    NOT NULL,
    key_id           BLOB    NOT NULL CHECK (length(key_id) = 8),
    encrypted_secret BLOB    NOT NULL,
    created_at       INTEGER NOT NULL,
    revoked_at       INTEGER,
    PRIMARY KEY (partner_id, id)
) STRICT, WITHOUT ROWID;

-- The scoped credential that logged in; NULL for the partner's technical login.
ALTER TABLE sessions ADD COLUMN credential_id BLOB CHECK (length(credential_id) = 16);

-- SQLite changes a CHECK only with the table: the entries are copied as they are, so their hashes still hold.
CREATE TABLE audit_entries_with_actors (
    chain      INTEGER NOT NULL CHECK (chain > 0),
    number     INTEGER NOT NULL CHECK (number > 0),
    -- Over the row and the hash of the entry before.
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL CHECK (
        actor = 'UNKNOWN' OR actor = 'PARTNER' OR actor = 'OPERATOR'
        OR actor = 'CREDENTIAL' OR actor = 'USER' OR actor = 'SERVICE'
    ),
    -- The token pair of a partner's request.
    credential BLOB    CHECK (length(credential) = 16),
    operator   TEXT,
    -- The partner that the entry concerns.
    partner    BLOB    CHECK (length(partner) = 16),
    source     TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    request_id TEXT,
    key_digest BLOB    CHECK (length(key_digest) = 16),
    sealed     INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    outcome    TEXT    NOT NULL CHECK (
        outcome = 'BEGUN' OR outcome = 'DONE' OR outcome = 'REPEATED' OR outcome = 'REFUSED' OR outcome = 'FAILED'
    ),
    status     INTEGER CHECK (status BETWEEN 100 AND 599),
    code       TEXT,
    -- 8 bytes that name the key, then HMAC-SHA256 of the hash. NULL without a master key.
    signature  BLOB    CHECK (length(signature) = 40),
    -- The scoped credential or user that acted.
    actor_id   BLOB    CHECK (length(actor_id) = 16),
    PRIMARY KEY (chain, number)
) STRICT, WITHOUT ROWID;

INSERT INTO audit_entries_with_actors (chain, number, hash, at, actor, credential, operator, partner, source, action, subject, request_id, key_digest,
    sealed, outcome, status, code, signature)
SELECT
    chain, number, hash, at, actor, credential, operator, partner, source, action, subject, request_id, key_digest,
    sealed, outcome, status, code, signature
FROM audit_entries;

DROP TABLE audit_entries;
ALTER TABLE audit_entries_with_actors RENAME TO audit_entries;

CREATE INDEX audit_entries_by_age ON audit_entries (at);

CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
WHEN NOT EXISTS (
    SELECT 1 FROM audit_checkpoints WHERE chain = OLD.chain AND kind = 'BEGINNING' AND number >= OLD.number
)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON audit_entries
WHEN EXISTS (SELECT 1 FROM audit_entries WHERE chain = NEW.chain AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
