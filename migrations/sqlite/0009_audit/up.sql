-- The audit log. These tables belong to no partner: an entry may be about nobody that is known. For the same reason, and
-- because a look at another table for each entry would cost more than the entry, they refer to none.
CREATE TABLE audit_chains (
    chain     INTEGER NOT NULL PRIMARY KEY CHECK (chain > 0),
    opened_at INTEGER NOT NULL,
    -- Over the row and the hash of the row before.
    hash      BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TABLE audit_entries (
    chain      INTEGER NOT NULL CHECK (chain > 0),
    number     INTEGER NOT NULL CHECK (number > 0),
    -- Over the row and the hash of the entry before.
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL CHECK (actor IN ('UNKNOWN', 'PARTNER', 'OPERATOR')),
    credential BLOB    CHECK (length(credential) = 16),
    operator   TEXT,
    -- Whom it concerns.
    partner    BLOB    CHECK (length(partner) = 16),
    source     TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    request_id TEXT,
    key_digest BLOB    CHECK (length(key_digest) = 16),
    sealed     INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    outcome    TEXT    NOT NULL CHECK (outcome IN ('BEGUN', 'DONE', 'REPEATED', 'REFUSED', 'FAILED')),
    status     INTEGER CHECK (status BETWEEN 100 AND 599),
    code       TEXT,
    PRIMARY KEY (chain, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_entries_by_age ON audit_entries (at);

-- Nothing is changed or removed. The third of each refuses `INSERT OR REPLACE`, which removes without saying so.
CREATE TRIGGER audit_chains_no_update BEFORE UPDATE ON audit_chains
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_chains_no_delete BEFORE DELETE ON audit_chains
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_chains_no_replace BEFORE INSERT ON audit_chains
WHEN EXISTS (SELECT 1 FROM audit_chains WHERE chain = NEW.chain)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON audit_entries
WHEN EXISTS (SELECT 1 FROM audit_entries WHERE chain = NEW.chain AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
