-- Scoped credentials: programs of a partner that may do a part of what it may, with sessions of their own; and audit entries
-- that name who acted.

-- A revoked one stays, so that what it did can be explained. The secret is a sealing key, encrypted under the master key.
CREATE TABLE credentials (
    partner_id       UUID        NOT NULL REFERENCES partners (id),
    id               UUID        NOT NULL,
    name             TEXT        NOT NULL,
    -- With commas between them.
    scopes           TEXT        NOT NULL,
    -- Networks in CIDR notation with commas between them, from which alone it is accepted. NULL: from anywhere.
    addresses        TEXT,
    login            TEXT        NOT NULL,
    api_key_hash     BYTEA       NOT NULL UNIQUE CHECK (length(api_key_hash) = 32),
    password_hash    TEXT        NOT NULL,
    key_id           BYTEA       NOT NULL CHECK (length(key_id) = 8),
    encrypted_secret BYTEA       NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    revoked_at       TIMESTAMPTZ,
    PRIMARY KEY (partner_id, id)
);

-- The scoped credential that logged in; NULL for the partner's technical login.
ALTER TABLE sessions ADD COLUMN credential_id UUID;

-- The scoped credential or user that acted.
ALTER TABLE audit_entries ADD COLUMN actor_id UUID;
-- Rows of before fit the narrower check, so they need no look.
ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_actor_check;
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_actor_check
    CHECK (actor IN ('UNKNOWN', 'PARTNER', 'OPERATOR', 'CREDENTIAL', 'USER', 'SERVICE')) NOT VALID;
