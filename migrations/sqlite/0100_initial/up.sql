-- Conventions of every table:
--   * identifiers are version 7 UUIDs (16 bytes) made by the service;
--   * timestamps are microseconds since 1970-01-01 UTC, days are Julian day numbers: both compare as integers;
--   * money is whole kopecks;
--   * the primary key carries the partner, and so does every foreign key: a row of one partner cannot refer to a row of
--     another, whatever a query forgets;
--   * an enum is the text that the API uses, under a CHECK;
--   * tables that most requests insert into compare an enum with one text after the other: for IN with more than two texts
--     SQLite builds a temporary table each time that it runs the statement;
--   * personal data, activation codes and recorded responses are encrypted by column: phone, email, address, recipient,
--     activation_code, body. Each value is bound to its table, column, partner and row;
--   * a constraint that a request can violate has a name, by which the store recognises it.
-- A test compares this file with the one of the other database.

-- Partners, their credentials and their sessions.

CREATE TABLE partners (
    id                   BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name                 TEXT    NOT NULL,
    login                TEXT    NOT NULL UNIQUE,
    api_key_hash         BLOB    NOT NULL UNIQUE CHECK (length(api_key_hash) = 32),
    -- The API key before the present one, accepted until a time, so that a partner can change over at leisure.
    former_api_key_hash  BLOB    CHECK (length(former_api_key_hash) = 32),
    former_api_key_until INTEGER,
    password_hash        TEXT    NOT NULL,
    status               TEXT    NOT NULL CHECK (status IN ('ACTIVE', 'SUSPENDED')),
    sealing              TEXT    NOT NULL CHECK (sealing IN ('required', 'optional')),
    created_at           INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX partners_by_former_api_key ON partners (former_api_key_hash) WHERE former_api_key_hash IS NOT NULL;

-- The secret is encrypted under the master key.
CREATE TABLE sealing_keys (
    partner_id       BLOB    NOT NULL REFERENCES partners (id),
    key_id           BLOB    NOT NULL CHECK (length(key_id) = 8),
    encrypted_secret BLOB    NOT NULL,
    created_at       INTEGER NOT NULL,
    -- When the partner first sealed a request with the key; until then the service seals under the key before it.
    first_used_at    INTEGER,
    accepted_until   INTEGER,
    PRIMARY KEY (partner_id, key_id)
) STRICT, WITHOUT ROWID;

-- The last number given out in each list of a partner. Rows of these lists are never deleted, so the numbers have no gaps:
-- the last number is the length of the list, and a page of the list is a range of an index. Events alone are deleted, the
-- oldest first: `expired_events` is the number of the last one that is gone.
CREATE TABLE counters (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    list       TEXT    NOT NULL
        CHECK (list IN (
            'categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes', 'closings', 'withdrawals',
            'transactions', 'events', 'expired_events'
        )),
    last       INTEGER NOT NULL CHECK (last >= 0),
    PRIMARY KEY (partner_id, list)
) STRICT, WITHOUT ROWID;

-- One row a login. `expires_at` is the latest end of the session's refresh tokens; after it, housekeeping deletes the
-- session with its token pairs.
CREATE TABLE sessions (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked    INTEGER NOT NULL CHECK (revoked IN (0, 1)),
    PRIMARY KEY (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_end ON sessions (expires_at);
-- Finds the active sessions of a partner, the latest first: a login ends those beyond the limit.
CREATE INDEX sessions_of_partner ON sessions (partner_id, revoked, created_at, id);

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

-- A failed login comes before its partner is known: the next two tables belong to no partner and hold digests only.
CREATE TABLE login_failures (
    id        INTEGER NOT NULL PRIMARY KEY,
    subject   BLOB    NOT NULL CHECK (length(subject) = 32),
    failed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX login_failures_of_subject ON login_failures (subject, failed_at);
CREATE INDEX login_failures_by_age ON login_failures (failed_at);

-- Nonces of token requests.
CREATE TABLE spent_nonces (
    api_key_hash BLOB    NOT NULL CHECK (length(api_key_hash) = 32),
    nonce        TEXT    NOT NULL,
    spent_at     INTEGER NOT NULL,
    PRIMARY KEY (api_key_hash, nonce)
) STRICT, WITHOUT ROWID;

CREATE INDEX spent_nonces_by_age ON spent_nonces (spent_at);

-- Nonces of sealed requests that were answered with 2xx. A copy of such a request under another idempotency key is refused.
CREATE TABLE sealed_nonces (
    partner_id      BLOB    NOT NULL REFERENCES partners (id),
    nonce           TEXT    NOT NULL,
    -- The Idempotency-Key of the request; NULL if it had none.
    idempotency_key TEXT,
    spent_at        INTEGER NOT NULL,
    PRIMARY KEY (partner_id, nonce)
) STRICT, WITHOUT ROWID;

CREATE INDEX sealed_nonces_by_age ON sealed_nonces (spent_at);

-- Responses for idempotent retries. The primary key begins with the idempotency key, which most clients derive from the
-- time: the new rows of all partners share the last page of the index.
CREATE TABLE recorded_responses (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    status      INTEGER NOT NULL CHECK (status BETWEEN 100 AND 599),
    body        BLOB    NOT NULL,
    recorded_at INTEGER NOT NULL,
    -- The employee whose personal data the response holds. An erased response has an empty body.
    employee_id BLOB,
    PRIMARY KEY (key, partner_id)
) STRICT;

CREATE INDEX recorded_responses_by_age ON recorded_responses (recorded_at);
CREATE INDEX recorded_responses_of_employee ON recorded_responses (partner_id, employee_id) WHERE employee_id IS NOT NULL;

-- Employees.

CREATE TABLE categories (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    seq         INTEGER NOT NULL CHECK (seq > 0),
    name        TEXT    NOT NULL,
    -- The name in lower case: the form in which two names are compared.
    folded_name TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, folded_name),
    UNIQUE (partner_id, seq)
) STRICT, WITHOUT ROWID;

-- The primary key begins with the identifier, which ascends with time: the new rows of all partners share the last page of
-- the index.
CREATE TABLE employees (
    partner_id        BLOB    NOT NULL REFERENCES partners (id),
    id                BLOB    NOT NULL CHECK (length(id) = 16),
    seq               INTEGER NOT NULL CHECK (seq > 0),
    custom_id         TEXT    NOT NULL,
    surname           TEXT,
    name              TEXT,
    patronymic        TEXT,
    phone             BLOB,
    email             BLOB,
    category_id       BLOB,
    status            TEXT    NOT NULL
        CHECK (status = 'WORK' OR status = 'VACATION' OR status = 'MEDICAL' OR status = 'DONT_WORK'),
    status_updated_at INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    -- Surname, name and custom identifier in lower case. Made by the service: SQLite's lower() knows ASCII only.
    search_text       TEXT    NOT NULL,
    -- When the personal data was erased: the row then has no names, no contacts, no category, and a `custom_id` that no
    -- employee can have; its number in the list stays its own.
    erased_at         INTEGER,
    PRIMARY KEY (id, partner_id),
    UNIQUE (partner_id, custom_id),
    UNIQUE (partner_id, seq),
    FOREIGN KEY (partner_id, category_id) REFERENCES categories (partner_id, id)
) STRICT;

CREATE INDEX employees_of_category ON employees (partner_id, category_id, seq) WHERE category_id IS NOT NULL;
-- What a page of the list has to pass over.
CREATE INDEX employees_erased ON employees (partner_id, seq) WHERE erased_at IS NOT NULL;

-- Orders, and the cards that they brought.

CREATE TABLE orders (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    seq         INTEGER NOT NULL CHECK (seq > 0),
    kind        TEXT    NOT NULL CHECK (kind IN ('PLASTIC', 'VIRTUAL')),
    card_type   TEXT    NOT NULL CHECK (card_type IN ('MLZ', 'MP4', 'P04', 'CP4', 'KKL')),
    cards       INTEGER NOT NULL CHECK (cards > 0),
    -- The name that the partner gave it.
    reference   TEXT    CHECK (reference <> ''),
    cost        INTEGER NOT NULL CHECK (cost >= 0),
    state       TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'DECLINE', 'REJECTED', 'CONFIRMED')),
    state_since INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX orders_by_reference ON orders (partner_id, reference, seq) WHERE reference IS NOT NULL;

CREATE TABLE order_lines (
    partner_id BLOB    NOT NULL,
    order_id   BLOB    NOT NULL,
    position   INTEGER NOT NULL CHECK (position >= 0),
    card_type  TEXT    NOT NULL CHECK (card_type IN ('MLZ', 'MP4', 'P04', 'CP4', 'KKL')),
    cards      INTEGER NOT NULL CHECK (cards > 0),
    -- Plastic cards only.
    address    BLOB,
    recipient  BLOB,
    phone      BLOB,
    -- Virtual cards only: the first top-up of each card.
    amount     INTEGER CHECK (amount > 0),
    PRIMARY KEY (partner_id, order_id, position),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    CONSTRAINT order_lines_plastic_or_virtual CHECK (
        (address IS NULL) = (amount IS NOT NULL)
        AND (recipient IS NULL) = (amount IS NOT NULL)
        AND (phone IS NULL) = (amount IS NOT NULL)
    )
) STRICT, WITHOUT ROWID;

CREATE TABLE cards (
    partner_id             BLOB    NOT NULL REFERENCES partners (id),
    id                     BLOB    NOT NULL CHECK (length(id) = 16),
    seq                    INTEGER NOT NULL CHECK (seq > 0),
    number                 INTEGER NOT NULL,
    kind                   TEXT    NOT NULL CHECK (kind IN ('MLZ', 'MP4', 'P04', 'CP4', 'KKL')),
    order_id               BLOB    NOT NULL,
    -- The place of the card in the result of its order.
    ordinal                INTEGER NOT NULL CHECK (ordinal >= 0),
    valid_until            INTEGER NOT NULL,
    -- When the next event of the expiry is due: 30 days before its last day, then the day after it.
    expiry_due             INTEGER,
    employee_id            BLOB,
    link_status            TEXT    CHECK (link_status IN ('MAIN', 'ADDITIONAL', 'TEMPORARILY_BLOCKED')),
    -- Virtual cards only, until the code is used or over.
    activation_code        BLOB,
    activation_valid_until INTEGER,
    first_top_up           INTEGER,
    -- The block that the partner set: whether the bank knows of it, and how many blocks and unblocks there were.
    block_state            TEXT    NOT NULL DEFAULT 'OPEN'
        CHECK (block_state IN ('OPEN', 'BLOCKING', 'BLOCKED', 'UNBLOCKING')),
    block_change           INTEGER NOT NULL DEFAULT 0 CHECK (block_change >= 0),
    -- The bank's view of the card as of `seen_at`.
    balance                INTEGER NOT NULL,
    remaining_top_up       INTEGER NOT NULL,
    activated_at           INTEGER,
    standing               TEXT    NOT NULL CHECK (standing IN ('OPEN', 'BLOCKED', 'CLOSED')),
    seen_at                INTEGER NOT NULL,
    -- The account as of the last daily refresh.
    account_value          INTEGER NOT NULL,
    account_updated_at     INTEGER NOT NULL,
    transactions_seen_at   INTEGER,
    -- Where, when and how much the card may pay, as the last limit change left it: UNLIMITED, or the parts that are set, in
    -- this order and joined by '; ': '500000 CMONTH', 'days 1,2,5', 'times 08:00-12:00,22:00-06:00'.
    -- Written and read by the service alone.
    spending_limit         TEXT    NOT NULL CHECK (spending_limit <> ''),
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, number),
    UNIQUE (partner_id, order_id, ordinal),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id),
    CONSTRAINT cards_link_complete CHECK ((employee_id IS NULL) = (link_status IS NULL)),
    CONSTRAINT cards_activation_complete CHECK (
        (activation_valid_until IS NULL) = (first_top_up IS NULL)
        AND (activation_code IS NULL OR activation_valid_until IS NOT NULL)
    )
) STRICT, WITHOUT ROWID;

-- One card has one number among all partners: the bank identifies a card by its number alone. An order for which the bank
-- issues a number that is taken needs manual review.
CREATE UNIQUE INDEX cards_number ON cards (number);
-- A page of all cards is a range of their numbers in the list.
CREATE UNIQUE INDEX cards_by_seq ON cards (partner_id, seq);
CREATE UNIQUE INDEX cards_one_main ON cards (partner_id, employee_id) WHERE link_status = 'MAIN';
-- Covers the list of an employee's cards.
CREATE INDEX cards_of_employee ON cards (partner_id, employee_id, seq, link_status, id) WHERE employee_id IS NOT NULL;
-- Covers the filters of the list of unassigned cards, so that counting it seldom reads the table.
CREATE INDEX cards_unassigned ON cards (partner_id, standing, seq, valid_until, kind, employee_id)
    WHERE employee_id IS NULL;
CREATE INDEX cards_by_activation ON cards (activation_valid_until) WHERE activation_code IS NOT NULL;
-- Covers the query for accounts that are due for the daily refresh.
CREATE INDEX cards_by_account_refresh ON cards (account_updated_at, partner_id, id, number);
CREATE INDEX cards_by_expiry ON cards (expiry_due) WHERE expiry_due IS NOT NULL;
-- What the bank has yet to confirm.
CREATE INDEX cards_by_block ON cards (block_state) WHERE block_state <> 'OPEN';

-- The copy of the bank's transactions; `id` is the bank's number. `seq` numbers those of all cards of a partner without gaps,
-- in the order in which the service learnt of them.
CREATE TABLE transactions (
    partner_id  BLOB    NOT NULL,
    card_id     BLOB    NOT NULL,
    id          INTEGER NOT NULL,
    seq         INTEGER NOT NULL DEFAULT 0,
    executed_at INTEGER NOT NULL,
    kind        TEXT    NOT NULL
        CHECK (kind IN ('REPLENISHMENT', 'PAYMENT', 'REFUND', 'REVERSAL', 'CORRECTION')),
    amount      INTEGER NOT NULL CHECK (amount > 0),
    place       TEXT,
    mcc         TEXT,
    merchant_id TEXT,
    PRIMARY KEY (partner_id, card_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX transactions_by_time ON transactions (partner_id, card_id, executed_at, id);
CREATE UNIQUE INDEX transactions_by_number ON transactions (partner_id, seq);
CREATE INDEX transactions_of_card_by_number ON transactions (partner_id, card_id, seq);

-- Card batches: a request over many cards, each with its own result. `kind` is that of the job; each kind has its own columns,
-- which are NULL in rows of the others.

CREATE TABLE card_batches (
    partner_id     BLOB    NOT NULL REFERENCES partners (id),
    id             BLOB    NOT NULL CHECK (length(id) = 16),
    kind           TEXT    NOT NULL CHECK (kind IN ('REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL')),
    -- The number in the list of the partner's batches of this kind.
    seq            INTEGER NOT NULL CHECK (seq > 0),
    cards          INTEGER NOT NULL CHECK (cards > 0),
    -- The name that the partner gave it.
    reference      TEXT    CHECK (reference <> ''),
    -- The sum of a replenishment, or of a withdrawal that has an amount for each card.
    amount         INTEGER CHECK (amount > 0),
    -- The new limit of each card of a limit change, in the form of `cards.spending_limit`.
    spending_limit TEXT    CHECK (spending_limit <> ''),
    -- Whether a closing is of lost and stolen cards alone.
    is_urgent      INTEGER NOT NULL DEFAULT 0 CHECK (is_urgent IN (0, 1)),
    -- The sum that closings and withdrawals brought back from the cards.
    returned       INTEGER NOT NULL DEFAULT 0 CHECK (returned >= 0),
    state          TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED')),
    state_since    INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, kind, seq),
    CONSTRAINT card_batches_amount_of_replenishment
        CHECK (kind = 'WITHDRAWAL' OR (kind = 'REPLENISHMENT') = (amount IS NOT NULL)),
    CONSTRAINT card_batches_limit_of_limit_change CHECK ((kind = 'LIMIT_CHANGE') = (spending_limit IS NOT NULL)),
    CONSTRAINT card_batches_urgent_closing CHECK (kind = 'CLOSING' OR NOT is_urgent),
    CONSTRAINT card_batches_returned_by_kind CHECK (kind IN ('CLOSING', 'WITHDRAWAL') OR returned = 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX card_batches_by_reference ON card_batches (partner_id, kind, reference, seq) WHERE reference IS NOT NULL;

CREATE TABLE card_batch_items (
    partner_id BLOB    NOT NULL,
    batch_id   BLOB    NOT NULL,
    ordinal    INTEGER NOT NULL CHECK (ordinal >= 0),
    -- As in the batch.
    kind       TEXT    NOT NULL CHECK (kind IN ('REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL')),
    card_id    BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    -- Of a top-up, or of a withdrawal that does not take all.
    amount     INTEGER CHECK (amount > 0),
    state      TEXT    NOT NULL CHECK (state IN ('OPEN', 'DONE', 'REFUSED')),
    refusal    TEXT    CHECK (refusal IN (
        'NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED', 'BLOCKED_BY_PARTNER', 'EXPIRED', 'NOT_ACTIVATED', 'CLOSED',
        'NOT_ENOUGH_ON_CARD', 'REFUSED_BY_BANK'
    )),
    -- Why the card is closed; whether all cards of the closing are lost or stolen.
    reason     TEXT    CHECK (reason IN ('LOST', 'STOLEN', 'DAMAGED', 'LEAVER', 'OTHER')),
    is_urgent  INTEGER NOT NULL DEFAULT 0 CHECK (is_urgent IN (0, 1)),
    -- What a closing or a withdrawal brought back from the card.
    returned   INTEGER CHECK (returned >= 0),
    -- Whether the open batch excludes the card from other batches of its lane.
    claimed    INTEGER NOT NULL CHECK (claimed IN (0, 1)),
    -- Whether the item may have reached a bank that has no idempotency keys.
    sent       INTEGER NOT NULL CHECK (sent IN (0, 1)),
    PRIMARY KEY (partner_id, batch_id, ordinal),
    FOREIGN KEY (partner_id, batch_id) REFERENCES card_batches (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    CONSTRAINT card_batch_items_amount_of_top_up
        CHECK (kind = 'WITHDRAWAL' OR (kind = 'REPLENISHMENT') = (amount IS NOT NULL)),
    CONSTRAINT card_batch_items_refusal_has_reason CHECK ((state = 'REFUSED') = (refusal IS NOT NULL)),
    CONSTRAINT card_batch_items_refusal_of_top_up
        CHECK (kind = 'REPLENISHMENT' OR refusal NOT IN ('NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED_BY_PARTNER')),
    CONSTRAINT card_batch_items_reason_of_closing CHECK ((kind = 'CLOSING') = (reason IS NOT NULL)),
    CONSTRAINT card_batch_items_urgent_closing CHECK (kind = 'CLOSING' OR NOT is_urgent),
    CONSTRAINT card_batch_items_returned_if_done
        CHECK ((returned IS NOT NULL) = (state = 'DONE' AND kind IN ('CLOSING', 'WITHDRAWAL')))
) STRICT, WITHOUT ROWID;

-- A card is in one open batch of each lane at most: replenishments, withdrawals and closings exclude each other, but for urgent
-- closings.
CREATE UNIQUE INDEX card_batch_items_claim ON card_batch_items (
    partner_id, card_id, (CASE WHEN kind = 'LIMIT_CHANGE' THEN 1 WHEN is_urgent THEN 4 ELSE 2 END)
) WHERE claimed;

-- The asynchronous jobs of orders and card batches. `attempt` counts the claims: only the latest claim, under a lease, may
-- settle. `may_have_sent`: an earlier claim may have sent something to the bank without settling it.
CREATE TABLE jobs (
    partner_id    BLOB    NOT NULL REFERENCES partners (id),
    subject_kind  TEXT    NOT NULL
        CHECK (subject_kind IN ('ORDER', 'REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL')),
    subject_id    BLOB    NOT NULL CHECK (length(subject_id) = 16),
    due_at        INTEGER NOT NULL,
    attempt       INTEGER NOT NULL CHECK (attempt >= 0),
    failures      INTEGER NOT NULL CHECK (failures >= 0),
    may_have_sent INTEGER NOT NULL CHECK (may_have_sent IN (0, 1)),
    leased_until  INTEGER,
    -- Since when the job needs manual review; the workers keep asking the bank meanwhile.
    stuck_since   INTEGER,
    PRIMARY KEY (partner_id, subject_kind, subject_id)
) STRICT, WITHOUT ROWID;

-- Jobs without a lease, of all partners and of each: a claim takes turns among partners.
CREATE INDEX jobs_by_due ON jobs (due_at) WHERE leased_until IS NULL;
CREATE INDEX jobs_of_partner ON jobs (partner_id, due_at, leased_until);
CREATE INDEX jobs_stuck ON jobs (stuck_since) WHERE stuck_since IS NOT NULL;
CREATE INDEX jobs_by_lease ON jobs (leased_until) WHERE leased_until IS NOT NULL;

-- The bank's feed: how far it was read, and which entries must not become events twice.

-- One row. The feed was read up to number `cursor`. At `forgotten_at` the bank had deleted what was not read yet.
-- `lease_owner` is the process that reads.
CREATE TABLE bank_feed (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    cursor       INTEGER NOT NULL CHECK (cursor >= 0),
    forgotten_at INTEGER,
    lease_owner  BLOB,
    leased_until INTEGER
) STRICT;
INSERT INTO bank_feed (id, cursor) VALUES (1, 0);

-- Declined purchases of the latest entries: `seq` is the entry's number.
CREATE TABLE bank_declines (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    seq        INTEGER NOT NULL,
    PRIMARY KEY (partner_id, seq)
) STRICT, WITHOUT ROWID;
-- Entries that are not read again are removed.
CREATE INDEX bank_declines_by_seq ON bank_declines (seq);

-- The ledger: double entry.

-- The balances of a partner's accounts: the sums of its entries, stored so that no request adds them up.
-- `last_movement` numbers the movements. A partner is notified of a balance below `threshold`; there is none at zero.
CREATE TABLE balances (
    partner_id    BLOB    NOT NULL PRIMARY KEY REFERENCES partners (id),
    deposited     INTEGER NOT NULL,
    available     INTEGER NOT NULL,
    held          INTEGER NOT NULL,
    spent         INTEGER NOT NULL,
    last_movement INTEGER NOT NULL CHECK (last_movement >= 0),
    threshold     INTEGER NOT NULL DEFAULT 0
        CONSTRAINT balances_threshold_not_below_zero CHECK (threshold >= 0),
    updated_at    INTEGER NOT NULL,
    CONSTRAINT balances_deposited_not_above_zero CHECK (deposited <= 0),
    CONSTRAINT balances_available_not_below_zero CHECK (available >= 0),
    CONSTRAINT balances_held_not_below_zero CHECK (held >= 0),
    CONSTRAINT balances_spent_not_below_zero CHECK (spent >= 0),
    CONSTRAINT balances_add_up_to_zero CHECK (deposited + available + held + spent = 0)
) STRICT, WITHOUT ROWID;

-- A movement belongs to a transfer (a deposit, its reversal, a payment to the partner), an order or a card batch. The reference
-- of a transfer counts once for each kind of movement.
CREATE TABLE movements (
    partner_id         BLOB    NOT NULL REFERENCES partners (id),
    number             INTEGER NOT NULL CHECK (number > 0),
    kind               TEXT    NOT NULL
        CHECK (kind IN ('DEPOSIT', 'HOLD', 'CAPTURE', 'RELEASE', 'RETURN', 'WITHDRAWAL', 'CORRECTION')),
    transfer_reference TEXT,
    order_id           BLOB,
    replenishment_id   BLOB,
    closing_id         BLOB,
    withdrawal_id      BLOB,
    -- What was available and what was held after the movement.
    available_after    INTEGER NOT NULL DEFAULT 0,
    held_after         INTEGER NOT NULL DEFAULT 0,
    created_at         INTEGER NOT NULL,
    PRIMARY KEY (partner_id, number),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    FOREIGN KEY (partner_id, replenishment_id) REFERENCES card_batches (partner_id, id),
    FOREIGN KEY (partner_id, closing_id) REFERENCES card_batches (partner_id, id),
    FOREIGN KEY (partner_id, withdrawal_id) REFERENCES card_batches (partner_id, id),
    CONSTRAINT movements_one_reference CHECK (
        (transfer_reference IS NOT NULL) + (order_id IS NOT NULL) + (replenishment_id IS NOT NULL)
            + (closing_id IS NOT NULL) + (withdrawal_id IS NOT NULL) = 1
    )
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX movements_transfer ON movements (partner_id, kind, transfer_reference)
    WHERE transfer_reference IS NOT NULL;
-- Where the movements of a period begin and end.
CREATE INDEX movements_by_time ON movements (partner_id, created_at, number);

-- The entries of a movement add up to zero.
CREATE TABLE entries (
    partner_id BLOB    NOT NULL,
    movement   INTEGER NOT NULL,
    account    TEXT    NOT NULL CHECK (account IN ('DEPOSITED', 'AVAILABLE', 'HELD', 'SPENT')),
    amount     INTEGER NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (partner_id, movement, account),
    FOREIGN KEY (partner_id, movement) REFERENCES movements (partner_id, number)
) STRICT, WITHOUT ROWID;

-- Events: one feed a partner.

-- `seq` numbers a partner's events without gaps: it comes from `counters`, which refers to the partner, so the events need not.
-- `data` is JSON; it holds no personal data but the `customId` of `employee_id`.
CREATE TABLE events (
    partner_id  BLOB    NOT NULL,
    seq         INTEGER NOT NULL CHECK (seq > 0),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    kind        TEXT    NOT NULL,
    employee_id BLOB,
    data        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (partner_id, seq)
) STRICT, WITHOUT ROWID;

-- A feed of some types alone.
CREATE INDEX events_by_kind ON events (partner_id, kind, seq);

-- Webhooks: addresses of a partner to which events are delivered.

-- `types` are names with commas between; all types if null. Secrets are encrypted under the master key. A delivery was made
-- for each event up to number `cursor` that the webhook wanted. `failures` counts the failed attempts since the last accepted
-- delivery; because of them none is made until `paused_until`. `lease_owner` is the process that delivers.
CREATE TABLE webhooks (
    partner_id       BLOB    NOT NULL REFERENCES partners (id),
    id               BLOB    NOT NULL,
    url              TEXT    NOT NULL,
    types            TEXT,
    description      TEXT    NOT NULL,
    sealed           INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    enabled          INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    created_at       INTEGER NOT NULL,
    last_success_at  INTEGER,
    last_failure_at  INTEGER,
    failing_since    INTEGER,
    failures         INTEGER NOT NULL DEFAULT 0
        CONSTRAINT webhooks_failures_not_below_zero CHECK (failures >= 0),
    paused_until     INTEGER,
    secret           BLOB    NOT NULL,
    former_secret    BLOB,
    former_until     INTEGER,
    cursor           INTEGER NOT NULL CHECK (cursor >= 0),
    -- Events behind the first number up to the second are to be delivered once more, and how many of them are left.
    redelivery_after INTEGER,
    redelivery_until INTEGER,
    redelivery_left  INTEGER,
    due_at           INTEGER,
    lease_owner      BLOB,
    leased_until     INTEGER,
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

-- The audit log: hash chains. These tables belong to no partner, since an entry may concern an unknown one. For the same
-- reason, and because checking a reference would cost more than the entry, they have no foreign keys.

CREATE TABLE audit_chains (
    chain     INTEGER NOT NULL PRIMARY KEY CHECK (chain > 0),
    opened_at INTEGER NOT NULL,
    -- Over the row and the hash of the row before.
    hash      BLOB    NOT NULL CHECK (length(hash) = 32),
    -- Whether operators' commands write to the chain, one after the other. They use the last such chain.
    commands  INTEGER NOT NULL CHECK (commands IN (0, 1))
) STRICT;

CREATE TABLE audit_entries (
    chain      INTEGER NOT NULL CHECK (chain > 0),
    number     INTEGER NOT NULL CHECK (number > 0),
    -- Over the row and the hash of the entry before.
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL CHECK (actor = 'UNKNOWN' OR actor = 'PARTNER' OR actor = 'OPERATOR'),
    -- The token pair of a partner's request.
    credential BLOB    CHECK (length(credential) = 16),
    operator   TEXT,
    -- The partner that the entry concerns.
    partner    BLOB    CHECK (length(partner) = 16),
    source     TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    request_id TEXT,
    key_digest BLOB    CHECK (length(key_digest) = 16),
    sealed     INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    outcome    TEXT    NOT NULL CHECK (
        outcome = 'BEGUN' OR outcome = 'DONE' OR outcome = 'REPEATED' OR outcome = 'REFUSED' OR outcome = 'FAILED'
    ),
    status     INTEGER CHECK (status BETWEEN 100 AND 599),
    code       TEXT,
    -- 8 bytes that name the key, then HMAC-SHA256 of the hash. NULL without a master key.
    signature  BLOB    CHECK (length(signature) = 40),
    PRIMARY KEY (chain, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_entries_by_age ON audit_entries (at);

-- Signed statements about chains: where one begins after it was pruned, and how far it goes at least.
CREATE TABLE audit_checkpoints (
    chain     INTEGER NOT NULL CHECK (chain > 0),
    kind      TEXT    NOT NULL CHECK (kind IN ('BEGINNING', 'CHECKPOINT')),
    number    INTEGER NOT NULL CHECK (number > 0),
    hash      BLOB    NOT NULL CHECK (length(hash) = 32),
    signature BLOB    NOT NULL CHECK (length(signature) = 40),
    PRIMARY KEY (chain, kind)
) STRICT, WITHOUT ROWID;

-- Chains are never changed or deleted. INSERT OR REPLACE deletes without a DELETE trigger, so inserts are checked too.
CREATE TRIGGER audit_chains_no_update BEFORE UPDATE ON audit_chains
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_chains_no_delete BEFORE DELETE ON audit_chains
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_chains_no_replace BEFORE INSERT ON audit_chains
WHEN EXISTS (SELECT 1 FROM audit_chains WHERE chain = NEW.chain)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- Entries may be deleted up to the checkpoint that says where their chain begins, and no others.
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
WHEN NOT EXISTS (
    SELECT 1 FROM audit_checkpoints WHERE chain = OLD.chain AND kind = 'BEGINNING' AND number >= OLD.number
)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON audit_entries
WHEN EXISTS (SELECT 1 FROM audit_entries WHERE chain = NEW.chain AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- A checkpoint moves on, and never back.
CREATE TRIGGER audit_checkpoints_no_way_back BEFORE UPDATE ON audit_checkpoints
WHEN NEW.chain <> OLD.chain OR NEW.kind <> OLD.kind OR NEW.number < OLD.number
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_checkpoints_no_delete BEFORE DELETE ON audit_checkpoints
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_checkpoints_no_replace BEFORE INSERT ON audit_checkpoints
WHEN EXISTS (SELECT 1 FROM audit_checkpoints WHERE chain = NEW.chain AND kind = NEW.kind AND number > NEW.number)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- That commits were found missing, and that an operator has accepted it. The last row counts: see ADR 52.
CREATE TABLE history_notices (
    number   INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    noted_at INTEGER NOT NULL,
    kind     TEXT    NOT NULL CHECK (kind IN ('REWOUND', 'ACCEPTED')),
    -- What is missing.
    detail   TEXT    NOT NULL
) STRICT;

-- Views for people: identifiers and timestamps as text, money in kopecks and roubles, card numbers by their last four digits.
-- The service reads none of them.

-- Employees whose personal data is not erased, and how many cards each of them has.
CREATE VIEW v_employees AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(e.partner_id), 1, 8), substr(hex(e.partner_id), 9, 4), substr(hex(e.partner_id), 13, 4),
        substr(hex(e.partner_id), 17, 4), substr(hex(e.partner_id), 21)
    )) AS partner_id,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(e.id), 1, 8), substr(hex(e.id), 9, 4), substr(hex(e.id), 13, 4),
        substr(hex(e.id), 17, 4), substr(hex(e.id), 21)
    )) AS employee_id,
    e.custom_id,
    e.surname,
    e.name,
    e.patronymic,
    g.name AS category,
    e.status,
    (SELECT count(*) FROM cards c WHERE c.partner_id = e.partner_id AND c.employee_id = e.id) AS cards,
    datetime(e.status_updated_at / 1000000, 'unixepoch') AS status_updated_at,
    datetime(e.created_at / 1000000, 'unixepoch') AS created_at
FROM employees e
JOIN partners p ON p.id = e.partner_id
LEFT JOIN categories g ON g.partner_id = e.partner_id AND g.id = e.category_id
WHERE e.erased_at IS NULL;

-- Cards, their holders, and the bank's view as of `seen_at`.
CREATE VIEW v_cards AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(c.partner_id), 1, 8), substr(hex(c.partner_id), 9, 4), substr(hex(c.partner_id), 13, 4),
        substr(hex(c.partner_id), 17, 4), substr(hex(c.partner_id), 21)
    )) AS partner_id,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(c.id), 1, 8), substr(hex(c.id), 9, 4), substr(hex(c.id), 13, 4),
        substr(hex(c.id), 17, 4), substr(hex(c.id), 21)
    )) AS card_id,
    '*********' || substr(CAST(c.number AS TEXT), -4) AS number,
    c.kind,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(c.order_id), 1, 8), substr(hex(c.order_id), 9, 4), substr(hex(c.order_id), 13, 4),
        substr(hex(c.order_id), 17, 4), substr(hex(c.order_id), 21)
    )) AS order_id,
    CASE WHEN c.employee_id IS NOT NULL THEN lower(format(
        '%s-%s-%s-%s-%s', substr(hex(c.employee_id), 1, 8), substr(hex(c.employee_id), 9, 4), substr(hex(c.employee_id), 13, 4),
        substr(hex(c.employee_id), 17, 4), substr(hex(c.employee_id), 21)
    )) END AS employee_id,
    e.custom_id,
    CASE WHEN e.id IS NOT NULL THEN trim(coalesce(e.surname || ' ', '') || coalesce(e.name || ' ', '') || coalesce(e.patronymic, '')) END AS holder,
    c.link_status,
    c.standing,
    date(c.valid_until - 0.5) AS valid_until,
    c.balance AS balance_kopecks,
    format('%.2f', c.balance / 100.0) AS balance_roubles,
    format('%.2f', c.remaining_top_up / 100.0) AS remaining_top_up_roubles,
    c.spending_limit,
    datetime(c.activated_at / 1000000, 'unixepoch') AS activated_at,
    datetime(c.seen_at / 1000000, 'unixepoch') AS seen_at,
    c.block_state
FROM cards c
JOIN partners p ON p.id = c.partner_id
LEFT JOIN employees e ON e.partner_id = c.partner_id AND e.id = c.employee_id;

-- Orders and card batches with their jobs. A request that has ended has no job.
CREATE VIEW v_requests AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(r.partner_id), 1, 8), substr(hex(r.partner_id), 9, 4), substr(hex(r.partner_id), 13, 4),
        substr(hex(r.partner_id), 17, 4), substr(hex(r.partner_id), 21)
    )) AS partner_id,
    r.kind,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(r.id), 1, 8), substr(hex(r.id), 9, 4), substr(hex(r.id), 13, 4),
        substr(hex(r.id), 17, 4), substr(hex(r.id), 21)
    )) AS request_id,
    r.state,
    r.cards,
    r.amount AS amount_kopecks,
    format('%.2f', r.amount / 100.0) AS amount_roubles,
    datetime(r.state_since / 1000000, 'unixepoch') AS state_since,
    datetime(r.created_at / 1000000, 'unixepoch') AS created_at,
    datetime(j.due_at / 1000000, 'unixepoch') AS due_at,
    datetime(j.leased_until / 1000000, 'unixepoch') AS leased_until,
    j.attempt AS attempts,
    j.failures,
    datetime(j.stuck_since / 1000000, 'unixepoch') AS stuck_since,
    r.returned AS returned_kopecks,
    format('%.2f', r.returned / 100.0) AS returned_roubles,
    r.reference
FROM (
    SELECT partner_id, 'ORDER' AS kind, id, state, cards, cost AS amount, state_since, created_at, 0 AS returned, reference
    FROM orders
    UNION ALL
    SELECT partner_id, kind, id, state, cards, amount, state_since, created_at, returned, reference FROM card_batches
) r
JOIN partners p ON p.id = r.partner_id
LEFT JOIN jobs j ON j.partner_id = r.partner_id AND j.subject_kind = r.kind AND j.subject_id = r.id;

-- The balances of each partner.
CREATE VIEW v_balances AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(b.partner_id), 1, 8), substr(hex(b.partner_id), 9, 4), substr(hex(b.partner_id), 13, 4),
        substr(hex(b.partner_id), 17, 4), substr(hex(b.partner_id), 21)
    )) AS partner_id,
    p.status,
    b.available AS available_kopecks,
    format('%.2f', b.available / 100.0) AS available_roubles,
    b.held AS held_kopecks,
    format('%.2f', b.held / 100.0) AS held_roubles,
    b.spent AS spent_kopecks,
    format('%.2f', b.spent / 100.0) AS spent_roubles,
    format('%.2f', -b.deposited / 100.0) AS deposited_roubles,
    b.last_movement AS movements,
    datetime(b.updated_at / 1000000, 'unixepoch') AS updated_at,
    b.threshold AS threshold_kopecks
FROM balances b
JOIN partners p ON p.id = b.partner_id;

-- The entries of the ledger; `reference` is that of the transfer, or the identifier of the request.
CREATE VIEW v_movements AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(m.partner_id), 1, 8), substr(hex(m.partner_id), 9, 4), substr(hex(m.partner_id), 13, 4),
        substr(hex(m.partner_id), 17, 4), substr(hex(m.partner_id), 21)
    )) AS partner_id,
    m.number AS movement,
    m.kind,
    coalesce(m.transfer_reference, lower(format(
        '%s-%s-%s-%s-%s', substr(hex(m.request_id), 1, 8), substr(hex(m.request_id), 9, 4), substr(hex(m.request_id), 13, 4),
        substr(hex(m.request_id), 17, 4), substr(hex(m.request_id), 21)
    ))) AS reference,
    n.account,
    n.amount AS amount_kopecks,
    format('%.2f', n.amount / 100.0) AS amount_roubles,
    datetime(m.created_at / 1000000, 'unixepoch') AS created_at
FROM (
    SELECT *, coalesce(order_id, replenishment_id, closing_id, withdrawal_id) AS request_id FROM movements
) m
JOIN entries n ON n.partner_id = m.partner_id AND n.movement = m.number
JOIN partners p ON p.id = m.partner_id;
