CREATE TABLE orders (
    partner_id  BYTEA   NOT NULL REFERENCES partners (id),
    id          BYTEA   NOT NULL CHECK (length(id) = 16),
    seq         BIGINT  NOT NULL CHECK (seq > 0),
    kind        TEXT    NOT NULL CHECK (kind IN ('PLASTIC', 'VIRTUAL')),
    card_type   TEXT    NOT NULL CHECK (card_type IN ('MLZ', 'MP4', 'P04', 'CP4', 'KKL')),
    cards       BIGINT  NOT NULL CHECK (cards > 0),
    cost        BIGINT  NOT NULL CHECK (cost >= 0),
    state       TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'DECLINE', 'REJECTED', 'CONFIRMED')),
    created_at  BIGINT  NOT NULL,
    state_since BIGINT  NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq)
);

CREATE TABLE order_lines (
    partner_id BYTEA   NOT NULL,
    order_id   BYTEA   NOT NULL,
    position   BIGINT  NOT NULL CHECK (position >= 0),
    card_type  TEXT    NOT NULL CHECK (card_type IN ('MLZ', 'MP4', 'P04', 'CP4', 'KKL')),
    cards      BIGINT  NOT NULL CHECK (cards > 0),
    -- Plastic cards only.
    address    TEXT,
    recipient  TEXT,
    phone      TEXT,
    -- Virtual cards only: the first top-up of each card.
    amount     BIGINT  CHECK (amount > 0),
    PRIMARY KEY (partner_id, order_id, position),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    CONSTRAINT order_lines_plastic_or_virtual CHECK (
        (address IS NULL) = (amount IS NOT NULL)
        AND (recipient IS NULL) = (amount IS NOT NULL)
        AND (phone IS NULL) = (amount IS NOT NULL)
    )
);

CREATE TABLE cards (
    partner_id             BYTEA   NOT NULL REFERENCES partners (id),
    id                     BYTEA   NOT NULL CHECK (length(id) = 16),
    seq                    BIGINT  NOT NULL CHECK (seq > 0),
    number                 BIGINT  NOT NULL,
    kind                   TEXT    NOT NULL CHECK (kind IN ('MLZ', 'MP4', 'P04', 'CP4', 'KKL')),
    order_id               BYTEA   NOT NULL,
    ordinal                BIGINT  NOT NULL CHECK (ordinal >= 0),
    valid_until            INTEGER NOT NULL,
    employee_id            BYTEA,
    link_status            TEXT    CHECK (link_status IN ('MAIN', 'ADDITIONAL', 'TEMPORARILY_BLOCKED')),
    -- Virtual cards only.
    activation_code        TEXT,
    activation_valid_until INTEGER,
    first_top_up           BIGINT,
    -- What the bank last said.
    balance                BIGINT  NOT NULL,
    can_to_up              BIGINT  NOT NULL,
    activated_at           BIGINT,
    standing               TEXT    NOT NULL CHECK (standing IN ('OPEN', 'BLOCKED', 'CLOSED')),
    seen_at                BIGINT  NOT NULL,
    -- The account as of the last daily refresh.
    account_value          BIGINT  NOT NULL,
    account_updated_at     BIGINT  NOT NULL,
    transactions_seen_at   BIGINT,
    -- What the card may be spent on, as the last limit change left it: UNLIMITED, or those of these parts that are
    -- set, in this order and joined by '; ': '500000 CMONTH', 'days 1,2,5', 'times 08:00-12:00,22:00-06:00'.
    -- Made and read by the service alone.
    spending_limit         TEXT    NOT NULL CHECK (spending_limit <> ''),
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, number),
    UNIQUE (partner_id, order_id, ordinal),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id),
    CONSTRAINT cards_link_is_whole CHECK ((employee_id IS NULL) = (link_status IS NULL)),
    CONSTRAINT cards_activation_is_whole CHECK (
        (activation_code IS NULL) = (activation_valid_until IS NULL)
        AND (activation_code IS NULL) = (first_top_up IS NULL)
    )
);

CREATE UNIQUE INDEX cards_one_main ON cards (partner_id, employee_id) WHERE link_status = 'MAIN';
CREATE INDEX cards_of_employee ON cards (partner_id, employee_id, seq) WHERE employee_id IS NOT NULL;
-- Covers what the list of free cards filters by, so that counting it seldom touches the table.
CREATE INDEX cards_free ON cards (partner_id, standing, seq, valid_until, kind, employee_id)
    WHERE employee_id IS NULL;

-- Covers the look-up of the accounts that are due for the daily refresh.
CREATE INDEX cards_by_account_refresh ON cards (account_updated_at, partner_id, id, number);

-- The copy of the bank's transactions; `id` is the bank's number.
CREATE TABLE transactions (
    partner_id  BYTEA   NOT NULL,
    card_id     BYTEA   NOT NULL,
    id          BIGINT  NOT NULL,
    executed_at BIGINT  NOT NULL,
    kind        TEXT    NOT NULL
        CHECK (kind IN ('REPLENISHMENT', 'PAYMENT', 'REFUND', 'REVERSAL', 'CORRECTION')),
    amount      BIGINT  NOT NULL CHECK (amount > 0),
    place       TEXT,
    mcc         TEXT,
    merchant_id TEXT,
    PRIMARY KEY (partner_id, card_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id)
);

CREATE INDEX transactions_by_time ON transactions (partner_id, card_id, executed_at, id);
