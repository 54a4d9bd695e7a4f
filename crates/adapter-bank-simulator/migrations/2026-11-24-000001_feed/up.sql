-- What happened to cards, in the order in which it was recorded. `at` is when.
CREATE TABLE feed (
    seq            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    card           BIGINT  NOT NULL REFERENCES cards (number),
    kind           TEXT    NOT NULL CHECK (
        kind IN ('TRANSACTION', 'DECLINED', 'ACTIVATED', 'BLOCKED', 'UNBLOCKED', 'EXPIRED')
    ),
    at             BIGINT  NOT NULL,
    transaction_id BIGINT  REFERENCES transactions (id),
    -- A purchase that was declined.
    tried_at       BIGINT,
    amount         BIGINT,
    reason         TEXT,
    place          TEXT,
    mcc            TEXT,
    merchant_id    TEXT,
    CHECK ((kind = 'TRANSACTION') = (transaction_id IS NOT NULL)),
    CHECK ((kind = 'DECLINED') = (tried_at IS NOT NULL AND amount IS NOT NULL AND reason IS NOT NULL))
);
