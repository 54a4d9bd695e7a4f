-- Webhooks: addresses of a partner to which events are delivered.

-- `types` are names with commas between; all types if null. Secrets are encrypted under the master key. A delivery was made
-- for each event up to number `cursor` that the webhook wanted. `lease_owner` is the process that delivers.
CREATE TABLE webhooks (
    partner_id      BLOB    NOT NULL REFERENCES partners (id),
    id              BLOB    NOT NULL,
    url             TEXT    NOT NULL,
    types           TEXT,
    description     TEXT    NOT NULL,
    sealed          INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    created_at      INTEGER NOT NULL,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    failing_since   INTEGER,
    secret          BLOB    NOT NULL,
    former_secret   BLOB,
    former_until    INTEGER,
    cursor          INTEGER NOT NULL CHECK (cursor >= 0),
    due_at          INTEGER,
    lease_owner     BLOB,
    leased_until    INTEGER,
    PRIMARY KEY (partner_id, id)
) STRICT, WITHOUT ROWID;

-- `position` numbers the deliveries of a webhook in the order in which they were made.
CREATE TABLE webhook_deliveries (
    partner_id       BLOB    NOT NULL,
    webhook_id       BLOB    NOT NULL,
    position         INTEGER NOT NULL CHECK (position > 0),
    id               BLOB    NOT NULL,
    seq              INTEGER NOT NULL,
    event_id         BLOB    NOT NULL,
    kind             TEXT    NOT NULL,
    status           TEXT    NOT NULL CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
    attempts         INTEGER NOT NULL,
    last_attempt_at  INTEGER,
    last_status_code INTEGER,
    last_error       TEXT,
    next_attempt_at  INTEGER CHECK ((next_attempt_at IS NOT NULL) = (status = 'PENDING')),
    created_at       INTEGER NOT NULL,
    PRIMARY KEY (partner_id, webhook_id, position),
    FOREIGN KEY (partner_id, webhook_id) REFERENCES webhooks (partner_id, id)
) STRICT, WITHOUT ROWID;

-- The result of an attempt.
CREATE UNIQUE INDEX webhook_deliveries_by_id ON webhook_deliveries (partner_id, webhook_id, id);
-- The next attempts.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (partner_id, webhook_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
-- Whether an event was delivered.
CREATE INDEX webhook_deliveries_by_seq ON webhook_deliveries (partner_id, webhook_id, seq);
-- Retention.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);
