-- Closings of cards, and withdrawals of money from them. `returned` is what came back: of a card, and of all cards of a batch.
-- `is_urgent` marks a closing of lost and stolen cards alone, and its items.
DROP VIEW v_requests;
CREATE TABLE new_card_batches (
    partner_id     BLOB    NOT NULL REFERENCES partners (id),
    id             BLOB    NOT NULL CHECK (length(id) = 16),
    kind           TEXT    NOT NULL CHECK (kind IN ('REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL')),
    -- The number in the list of the partner's batches of this kind.
    seq            INTEGER NOT NULL CHECK (seq > 0),
    cards          INTEGER NOT NULL CHECK (cards > 0),
    -- The sum of a replenishment, or of a withdrawal that has an amount for each card.
    amount         INTEGER CHECK (amount > 0),
    -- The new limit of each card of a limit change, in the form of `cards.spending_limit`.
    spending_limit TEXT    CHECK (spending_limit <> ''),
    state          TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED')),
    state_since    INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    is_urgent      INTEGER NOT NULL DEFAULT 0 CHECK (is_urgent IN (0, 1)),
    returned       INTEGER NOT NULL DEFAULT 0 CHECK (returned >= 0),
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, kind, seq),
    CONSTRAINT card_batches_amount_of_replenishment
        CHECK (kind = 'WITHDRAWAL' OR (kind = 'REPLENISHMENT') = (amount IS NOT NULL)),
    CONSTRAINT card_batches_limit_of_limit_change CHECK ((kind = 'LIMIT_CHANGE') = (spending_limit IS NOT NULL)),
    CONSTRAINT card_batches_urgent_closing CHECK (kind = 'CLOSING' OR NOT is_urgent),
    CONSTRAINT card_batches_returned_by_kind CHECK (kind IN ('CLOSING', 'WITHDRAWAL') OR returned = 0)
) STRICT, WITHOUT ROWID;
INSERT INTO new_card_batches SELECT *, 0, 0 FROM card_batches;
DROP TABLE card_batches;
ALTER TABLE new_card_batches RENAME TO card_batches;

CREATE TABLE new_card_batch_items (
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
    -- Whether the open batch excludes the card from other batches of its lane.
    claimed    INTEGER NOT NULL CHECK (claimed IN (0, 1)),
    -- Whether the item may have reached a bank that has no idempotency keys.
    sent       INTEGER NOT NULL CHECK (sent IN (0, 1)),
    -- Why the card is closed.
    reason     TEXT    CHECK (reason IN ('LOST', 'STOLEN', 'DAMAGED', 'LEAVER', 'OTHER')),
    is_urgent  INTEGER NOT NULL DEFAULT 0 CHECK (is_urgent IN (0, 1)),
    returned   INTEGER CHECK (returned >= 0),
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
INSERT INTO new_card_batch_items SELECT *, NULL, 0, NULL FROM card_batch_items;
DROP TABLE card_batch_items;
ALTER TABLE new_card_batch_items RENAME TO card_batch_items;
-- A card is in one open batch of each lane at most: replenishments, withdrawals and closings exclude each other, but for urgent
-- closings.
CREATE UNIQUE INDEX card_batch_items_claim ON card_batch_items (
    partner_id, card_id, (CASE WHEN kind = 'LIMIT_CHANGE' THEN 1 WHEN is_urgent THEN 4 ELSE 2 END)
) WHERE claimed;

CREATE TABLE new_jobs (
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
INSERT INTO new_jobs SELECT * FROM jobs;
DROP TABLE jobs;
ALTER TABLE new_jobs RENAME TO jobs;
CREATE INDEX jobs_by_due ON jobs (due_at) WHERE leased_until IS NULL;
CREATE INDEX jobs_of_partner ON jobs (partner_id, due_at, leased_until);
CREATE INDEX jobs_stuck ON jobs (stuck_since) WHERE stuck_since IS NOT NULL;
CREATE INDEX jobs_by_lease ON jobs (leased_until) WHERE leased_until IS NOT NULL;

CREATE TABLE new_counters (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    list       TEXT    NOT NULL CHECK (list IN (
        'categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes', 'events', 'expired_events', 'closings',
        'withdrawals'
    )),
    last       INTEGER NOT NULL CHECK (last >= 0),
    PRIMARY KEY (partner_id, list)
) STRICT, WITHOUT ROWID;
INSERT INTO new_counters SELECT partner_id, list, last FROM counters;
INSERT INTO new_counters
SELECT partners.id, lists.value, 0 FROM partners, json_each('["closings", "withdrawals"]') AS lists;
DROP TABLE counters;
ALTER TABLE new_counters RENAME TO counters;

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
    format('%.2f', r.returned / 100.0) AS returned_roubles
FROM (
    SELECT partner_id, 'ORDER' AS kind, id, state, cards, cost AS amount, state_since, created_at, 0 AS returned FROM orders
    UNION ALL
    SELECT partner_id, kind, id, state, cards, amount, state_since, created_at, returned FROM card_batches
) r
JOIN partners p ON p.id = r.partner_id
LEFT JOIN jobs j ON j.partner_id = r.partner_id AND j.subject_kind = r.kind AND j.subject_id = r.id;
