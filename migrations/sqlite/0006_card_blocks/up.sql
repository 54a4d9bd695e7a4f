-- Blocks that partners set on cards. `block_state` says whether the bank knows; `block_change` counts the blocks and unblocks.
ALTER TABLE cards ADD COLUMN block_state TEXT NOT NULL DEFAULT 'OPEN'
    CHECK (block_state IN ('OPEN', 'BLOCKING', 'BLOCKED', 'UNBLOCKING'));
ALTER TABLE cards ADD COLUMN block_change INTEGER NOT NULL DEFAULT 0 CHECK (block_change >= 0);
-- Until now the bank was not notified.
UPDATE cards SET block_state = 'BLOCKING', block_change = 1 WHERE link_status = 'TEMPORARILY_BLOCKED';
-- What the bank has yet to confirm.
CREATE INDEX cards_by_block ON cards (block_state) WHERE block_state <> 'OPEN';

DROP VIEW v_cards;
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

-- A top-up can be refused because of such a block.
CREATE TABLE new_card_batch_items (
    partner_id BLOB    NOT NULL,
    batch_id   BLOB    NOT NULL,
    ordinal    INTEGER NOT NULL CHECK (ordinal >= 0),
    -- As in the batch.
    kind       TEXT    NOT NULL CHECK (kind IN ('REPLENISHMENT', 'LIMIT_CHANGE')),
    card_id    BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    -- Of a top-up.
    amount     INTEGER CHECK (amount > 0),
    state      TEXT    NOT NULL CHECK (state IN ('OPEN', 'DONE', 'REFUSED')),
    refusal    TEXT    CHECK (refusal IN (
        'NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED', 'BLOCKED_BY_PARTNER', 'EXPIRED', 'NOT_ACTIVATED', 'REFUSED_BY_BANK'
    )),
    -- Whether the open batch excludes the card from other batches of its kind. Batches of other kinds may have it.
    claimed    INTEGER NOT NULL CHECK (claimed IN (0, 1)),
    -- Whether the item may have reached a bank that has no idempotency keys.
    sent       INTEGER NOT NULL CHECK (sent IN (0, 1)),
    PRIMARY KEY (partner_id, batch_id, ordinal),
    FOREIGN KEY (partner_id, batch_id) REFERENCES card_batches (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    CONSTRAINT card_batch_items_amount_of_top_up CHECK ((kind = 'REPLENISHMENT') = (amount IS NOT NULL)),
    CONSTRAINT card_batch_items_refusal_has_reason CHECK ((state = 'REFUSED') = (refusal IS NOT NULL)),
    CONSTRAINT card_batch_items_refusal_of_top_up
        CHECK (kind = 'REPLENISHMENT' OR refusal NOT IN ('NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED_BY_PARTNER'))
) STRICT, WITHOUT ROWID;
INSERT INTO new_card_batch_items SELECT * FROM card_batch_items;
DROP TABLE card_batch_items;
ALTER TABLE new_card_batch_items RENAME TO card_batch_items;
CREATE UNIQUE INDEX card_batch_items_claim ON card_batch_items (partner_id, card_id, kind) WHERE claimed;
