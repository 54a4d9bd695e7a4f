-- Amounts are kopecks, moments are Unix microseconds, days are Julian day numbers.

-- One row: what the numbers of cards are made from.
CREATE TABLE presses (
    id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    scramble_key   BIGINT  NOT NULL,
    plastic_issued BIGINT  NOT NULL DEFAULT 0 CHECK (plastic_issued >= 0),
    virtual_issued BIGINT  NOT NULL DEFAULT 0 CHECK (virtual_issued >= 0)
);

-- What the bank was told to do. The instruction itself is not kept, only a digest to know it again by: nothing
-- that the bank does later needs an address or a name.
CREATE TABLE instructions (
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
    -- The kopecks that it brought back from a card.
    returned    BIGINT  CHECK (returned >= 0),
    CHECK ((verdict = 'DONE') = (applied > 0)),
    CHECK ((returned IS NOT NULL) = (verdict = 'DONE' AND kind IN ('CLOSE_CARD', 'WITHDRAW')))
);

CREATE TABLE cards (
    number           INTEGER NOT NULL PRIMARY KEY,
    kind             TEXT    NOT NULL,
    order_id         BIGINT  NOT NULL REFERENCES instructions (id),
    -- Its place among the cards of the order, from 0.
    ordinal          INTEGER NOT NULL,
    balance          BIGINT  NOT NULL DEFAULT 0 CHECK (balance >= 0),
    standing         TEXT    NOT NULL CHECK (standing IN ('OPEN', 'BLOCKED', 'CLOSED')),
    valid_until      INTEGER NOT NULL,
    issued_at        BIGINT  NOT NULL,
    activated_at     BIGINT,
    first_top_up     BIGINT  CHECK (first_top_up > 0),
    activation_code  TEXT,
    code_valid_until INTEGER,
    UNIQUE (order_id, ordinal)
);

-- What a card may be spent on. A card without a row is bounded by its balance alone.
CREATE TABLE limits (
    card    BIGINT  NOT NULL PRIMARY KEY REFERENCES cards (number),
    -- Kopecks for each period.
    amount  BIGINT  CHECK (amount > 0),
    period  TEXT    CHECK (period IN ('CDAY', 'CWEEK', 'CMONTH', 'CQUARTET')),
    -- Numbers of weekdays, 1 Monday, with commas between them; empty for any day.
    days    TEXT    NOT NULL,
    -- Windows HH:MM-HH:MM with commas between them; empty for any time.
    windows TEXT    NOT NULL,
    -- Merchant categories: codes NNNN and ranges NNNN-NNNN with commas between them. NULL: not set.
    only_categories TEXT CHECK (only_categories <> ''),
    except_categories TEXT
        CHECK (except_categories IS NULL OR (except_categories <> '' AND only_categories IS NULL)),
    CHECK ((amount IS NULL) = (period IS NULL))
);

-- Never changed, never deleted: a card's balance is the sum of its transactions.
CREATE TABLE transactions (
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

CREATE INDEX transactions_of_card ON transactions (card, id);
CREATE INDEX refunds_of_payment ON transactions (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX spending_of_card ON transactions (card, executed_at) WHERE kind IN ('PAYMENT', 'REFUND');

-- Purchases and refunds that were made or declined under a key, so that one that is sent again is not made again.
CREATE TABLE commands (
    key            TEXT   NOT NULL PRIMARY KEY,
    transaction_id BIGINT REFERENCES transactions (id),
    -- The code of the refusal.
    refusal        TEXT CHECK (refusal <> ''),
    made_at        BIGINT NOT NULL,
    CHECK ((transaction_id IS NULL) <> (refusal IS NULL))
);

-- Blocks by instruction, which are apart from `cards.standing`. `change` is the greatest that was seen.
CREATE TABLE blocks (
    card    BIGINT  NOT NULL PRIMARY KEY REFERENCES cards (number),
    blocked BOOLEAN NOT NULL CHECK (blocked IN (0, 1)),
    change  BIGINT  NOT NULL CHECK (change > 0)
);

-- What happened to cards, in the order in which it was recorded. `at` is when.
CREATE TABLE feed (
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
