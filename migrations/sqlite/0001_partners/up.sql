-- Conventions of every table:
--   * identifiers are 16-byte uuids (BLOB), made by the service;
--   * moments are microseconds since 1970-01-01 UTC, days are Julian day numbers, so that both compare as integers;
--   * money is kopecks;
--   * the primary key starts with the partner, and every foreign key carries it: a row of one partner cannot refer to
--     a row of another, whatever a query forgets;
--   * words of the interface are stored as they are written there.

CREATE TABLE partners (
    id            BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name          TEXT    NOT NULL,
    login         TEXT    NOT NULL UNIQUE,
    api_key_hash  BLOB    NOT NULL UNIQUE CHECK (length(api_key_hash) = 32),
    password_hash TEXT    NOT NULL,
    status        TEXT    NOT NULL CHECK (status IN ('ACTIVE', 'SUSPENDED')),
    sealing       TEXT    NOT NULL CHECK (sealing IN ('required', 'optional')),
    created_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE sealing_keys (
    partner_id       BLOB    NOT NULL REFERENCES partners (id),
    key_id           BLOB    NOT NULL CHECK (length(key_id) = 8),
    encrypted_secret BLOB    NOT NULL,
    created_at       INTEGER NOT NULL,
    accepted_until   INTEGER,
    PRIMARY KEY (partner_id, key_id)
) STRICT, WITHOUT ROWID;

-- The last number given out in each of the partner's lists. Rows of these lists are never deleted, so the numbers
-- have no gaps: the last one is the length of the list, and a page is a range of an index.
CREATE TABLE counters (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    list       TEXT    NOT NULL
        CHECK (list IN ('categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes')),
    last       INTEGER NOT NULL CHECK (last >= 0),
    PRIMARY KEY (partner_id, list)
) STRICT, WITHOUT ROWID;

-- `expires_at` is the latest end of the session's refresh tokens: what is past it can be forgotten with its pairs.
CREATE TABLE sessions (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked    INTEGER NOT NULL CHECK (revoked IN (0, 1)),
    PRIMARY KEY (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE token_pairs (
    partner_id         BLOB    NOT NULL,
    id                 BLOB    NOT NULL CHECK (length(id) = 16),
    session_id         BLOB    NOT NULL,
    state              TEXT    NOT NULL CHECK (state IN ('FRESH', 'SPENT', 'REVOKED')),
    used               INTEGER NOT NULL CHECK (used IN (0, 1)),
    successor          BLOB    CHECK (length(successor) = 16),
    reissued           INTEGER NOT NULL CHECK (reissued IN (0, 1)),
    refresh_expires_at INTEGER NOT NULL,
    PRIMARY KEY (partner_id, id),
    FOREIGN KEY (partner_id, session_id) REFERENCES sessions (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX token_pairs_of_session ON token_pairs (partner_id, session_id);
CREATE INDEX token_pairs_by_end ON token_pairs (refresh_expires_at);

-- Failed logins come before it is known whose they are: these two tables belong to no partner and hold digests only.
CREATE TABLE login_failures (
    id        INTEGER NOT NULL PRIMARY KEY,
    subject   BLOB    NOT NULL CHECK (length(subject) = 32),
    failed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX login_failures_of_subject ON login_failures (subject, failed_at);
CREATE INDEX login_failures_by_age ON login_failures (failed_at);

CREATE TABLE spent_nonces (
    api_key_hash BLOB    NOT NULL CHECK (length(api_key_hash) = 32),
    nonce        TEXT    NOT NULL,
    spent_at     INTEGER NOT NULL,
    PRIMARY KEY (api_key_hash, nonce)
) STRICT, WITHOUT ROWID;

CREATE INDEX spent_nonces_by_age ON spent_nonces (spent_at);

-- With a rowid: bodies are long, and long rows are slow in a table that is its own index.
CREATE TABLE recorded_answers (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    status      INTEGER NOT NULL CHECK (status BETWEEN 100 AND 599),
    body        BLOB    NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (partner_id, key)
) STRICT;

CREATE INDEX recorded_answers_by_age ON recorded_answers (recorded_at);
