-- Nonces of sealed requests that were answered with 2xx. A copy of such a request under another key is refused.
CREATE TABLE sealed_nonces (
    partner_id      BLOB    NOT NULL REFERENCES partners (id),
    nonce           TEXT    NOT NULL,
    -- The Idempotency-Key of the request; NULL if it had none.
    idempotency_key TEXT,
    spent_at        INTEGER NOT NULL,
    PRIMARY KEY (partner_id, nonce)
) STRICT, WITHOUT ROWID;

CREATE INDEX sealed_nonces_by_age ON sealed_nonces (spent_at);
