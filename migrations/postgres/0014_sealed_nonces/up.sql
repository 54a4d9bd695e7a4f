-- Nonces of sealed requests that were answered with 2xx. A copy of such a request under another key is refused.
CREATE TABLE sealed_nonces (
    partner_id      BYTEA  NOT NULL REFERENCES partners (id),
    nonce           TEXT   COLLATE "C" NOT NULL,
    -- The Idempotency-Key of the request; NULL if it had none.
    idempotency_key TEXT   COLLATE "C",
    spent_at        BIGINT NOT NULL,
    PRIMARY KEY (partner_id, nonce)
);

CREATE INDEX sealed_nonces_by_age ON sealed_nonces (spent_at);
