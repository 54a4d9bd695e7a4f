-- As before, with the instructions that bring money back, and the kopecks that came back by one that was carried out.
CREATE TABLE new_instructions (
    id          INTEGER NOT NULL PRIMARY KEY,
    key         TEXT    NOT NULL UNIQUE,
    kind        TEXT    NOT NULL CHECK (
        kind IN ('ISSUE_CARDS', 'TOP_UP', 'SET_LIMIT', 'SET_BLOCK', 'CLOSE_CARD', 'WITHDRAW')
    ),
    fingerprint BLOB    NOT NULL,
    verdict     TEXT    NOT NULL CHECK (verdict IN (
        'DONE', 'OVER_CARD_LIMIT', 'BLOCKED', 'BLOCKED_BY_PARTNER', 'EXPIRED', 'NOT_ACTIVATED', 'CLOSED', 'NOT_ENOUGH_ON_CARD',
        'REFUSED'
    )),
    -- How many times it had its effect. More than once only if bank faults are injected.
    applied     INTEGER NOT NULL CHECK (applied >= 0),
    returned    BIGINT  CHECK (returned >= 0),
    CHECK ((verdict = 'DONE') = (applied > 0)),
    CHECK ((returned IS NOT NULL) = (verdict = 'DONE' AND kind IN ('CLOSE_CARD', 'WITHDRAW')))
);
INSERT INTO new_instructions SELECT *, NULL FROM instructions;
DROP TABLE instructions;
ALTER TABLE new_instructions RENAME TO instructions;

-- As before, with reversals: money that an instruction took from a card.
CREATE TABLE new_transactions (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    card           BIGINT  NOT NULL REFERENCES cards (number),
    kind           TEXT    NOT NULL CHECK (kind IN ('REPLENISHMENT', 'PAYMENT', 'REFUND', 'REVERSAL')),
    amount         BIGINT  NOT NULL CHECK (amount > 0),
    executed_at    BIGINT  NOT NULL,
    place          TEXT,
    mcc            TEXT,
    merchant_id    TEXT,
    -- A replenishment or a reversal: the instruction that it comes from.
    instruction_id BIGINT  REFERENCES instructions (id),
    -- A refund: the payment that it gives back.
    payment_id     BIGINT  REFERENCES transactions (id),
    CHECK ((kind IN ('REPLENISHMENT', 'REVERSAL')) = (instruction_id IS NOT NULL)),
    CHECK ((kind = 'REFUND') = (payment_id IS NOT NULL))
);
INSERT INTO new_transactions SELECT * FROM transactions;
DROP TABLE transactions;
ALTER TABLE new_transactions RENAME TO transactions;
CREATE INDEX transactions_of_card ON transactions (card, id);
CREATE INDEX refunds_of_payment ON transactions (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX spending_of_card ON transactions (card, executed_at) WHERE kind IN ('PAYMENT', 'REFUND');

-- As before, with changes of another kind, such as a closing.
CREATE TABLE new_feed (
    seq            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    card           BIGINT  NOT NULL REFERENCES cards (number),
    kind           TEXT    NOT NULL CHECK (
        kind IN ('TRANSACTION', 'DECLINED', 'ACTIVATED', 'BLOCKED', 'UNBLOCKED', 'EXPIRED', 'CHANGED')
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
INSERT INTO new_feed SELECT * FROM feed;
DROP TABLE feed;
ALTER TABLE new_feed RENAME TO feed;
