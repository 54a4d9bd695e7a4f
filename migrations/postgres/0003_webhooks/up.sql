-- Webhooks: addresses of a partner to which events are delivered.

-- `types` are names with commas between; all types if null. Secrets are encrypted under the master key. A delivery was made
-- for each event up to number `cursor` that the webhook wanted. `lease_owner` is the process that delivers.
CREATE TABLE webhooks (
    partner_id      UUID        NOT NULL REFERENCES partners (id),
    id              UUID        NOT NULL,
    url             TEXT        NOT NULL,
    types           TEXT,
    description     TEXT        NOT NULL,
    sealed          BOOLEAN     NOT NULL,
    enabled         BOOLEAN     NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    last_success_at TIMESTAMPTZ,
    last_failure_at TIMESTAMPTZ,
    failing_since   TIMESTAMPTZ,
    secret          BYTEA       NOT NULL,
    former_secret   BYTEA,
    former_until    TIMESTAMPTZ,
    cursor          BIGINT      NOT NULL CHECK (cursor >= 0),
    due_at          TIMESTAMPTZ,
    lease_owner     UUID,
    leased_until    TIMESTAMPTZ,
    PRIMARY KEY (partner_id, id)
);

-- `position` numbers the deliveries of a webhook in the order in which they were made.
CREATE TABLE webhook_deliveries (
    partner_id       UUID        NOT NULL,
    webhook_id       UUID        NOT NULL,
    position         BIGINT      NOT NULL CHECK (position > 0),
    id               UUID        NOT NULL,
    seq              BIGINT      NOT NULL,
    event_id         UUID        NOT NULL,
    kind             TEXT        COLLATE "C" NOT NULL,
    status           TEXT        NOT NULL CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
    attempts         BIGINT      NOT NULL,
    last_attempt_at  TIMESTAMPTZ,
    last_status_code BIGINT,
    last_error       TEXT,
    next_attempt_at  TIMESTAMPTZ CHECK ((next_attempt_at IS NOT NULL) = (status = 'PENDING')),
    created_at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (partner_id, webhook_id, position),
    FOREIGN KEY (partner_id, webhook_id) REFERENCES webhooks (partner_id, id)
);

-- The result of an attempt.
CREATE UNIQUE INDEX webhook_deliveries_by_id ON webhook_deliveries (partner_id, webhook_id, id);
-- The next attempts.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (partner_id, webhook_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
-- Whether an event was delivered.
CREATE INDEX webhook_deliveries_by_seq ON webhook_deliveries (partner_id, webhook_id, seq);
-- Retention.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);
