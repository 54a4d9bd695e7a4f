-- Blocks that partners set on cards. `block_state` says whether the bank knows; `block_change` counts the blocks and unblocks.
ALTER TABLE cards ADD COLUMN block_state TEXT NOT NULL DEFAULT 'OPEN'
    CHECK (block_state IN ('OPEN', 'BLOCKING', 'BLOCKED', 'UNBLOCKING'));
ALTER TABLE cards ADD COLUMN block_change BIGINT NOT NULL DEFAULT 0 CHECK (block_change >= 0);
-- Until now the bank was not notified.
UPDATE cards SET block_state = 'BLOCKING', block_change = 1 WHERE link_status = 'TEMPORARILY_BLOCKED';
-- What the bank has yet to confirm.
CREATE INDEX cards_by_block ON cards (block_state) WHERE block_state <> 'OPEN';

CREATE OR REPLACE VIEW v_cards AS
SELECT
    p.name AS partner,
    c.partner_id,
    c.id AS card_id,
    '*********' || right(c.number::text, 4) AS number,
    c.kind,
    c.order_id,
    c.employee_id,
    e.custom_id,
    CASE WHEN e.id IS NOT NULL THEN concat_ws(' ', e.surname, e.name, e.patronymic) END AS holder,
    c.link_status,
    c.standing,
    c.valid_until,
    c.balance AS balance_kopecks,
    round(c.balance / 100.0, 2) AS balance_roubles,
    round(c.remaining_top_up / 100.0, 2) AS remaining_top_up_roubles,
    c.spending_limit,
    c.activated_at,
    c.seen_at,
    c.block_state
FROM cards c
JOIN partners p ON p.id = c.partner_id
LEFT JOIN employees e ON e.partner_id = c.partner_id AND e.id = c.employee_id;

-- A top-up can be refused because of such a block.
ALTER TABLE card_batch_items DROP CONSTRAINT card_batch_items_refusal_check;
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_refusal_check CHECK (refusal IN (
    'NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED', 'BLOCKED_BY_PARTNER', 'EXPIRED', 'NOT_ACTIVATED', 'REFUSED_BY_BANK'
));
ALTER TABLE card_batch_items DROP CONSTRAINT card_batch_items_refusal_of_top_up;
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_refusal_of_top_up
    CHECK (kind = 'REPLENISHMENT' OR refusal NOT IN ('NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED_BY_PARTNER'));
