-- Closings of cards, and withdrawals of money from them. `returned` is what came back: of a card, and of all cards of a batch.
-- `is_urgent` marks a closing of lost and stolen cards alone, and its items.
ALTER TABLE card_batches ADD COLUMN is_urgent BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE card_batches ADD COLUMN returned BIGINT NOT NULL DEFAULT 0 CHECK (returned >= 0);
ALTER TABLE card_batches DROP CONSTRAINT card_batches_kind_check;
ALTER TABLE card_batches ADD CONSTRAINT card_batches_kind_check
    CHECK (kind IN ('REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL'));
ALTER TABLE card_batches DROP CONSTRAINT card_batches_amount_of_replenishment;
ALTER TABLE card_batches ADD CONSTRAINT card_batches_amount_of_replenishment
    CHECK (kind = 'WITHDRAWAL' OR (kind = 'REPLENISHMENT') = (amount IS NOT NULL));
ALTER TABLE card_batches ADD CONSTRAINT card_batches_urgent_closing CHECK (kind = 'CLOSING' OR NOT is_urgent);
ALTER TABLE card_batches ADD CONSTRAINT card_batches_returned_by_kind
    CHECK (kind IN ('CLOSING', 'WITHDRAWAL') OR returned = 0);

ALTER TABLE card_batch_items ADD COLUMN reason TEXT
    CHECK (reason IN ('LOST', 'STOLEN', 'DAMAGED', 'LEAVER', 'OTHER'));
ALTER TABLE card_batch_items ADD COLUMN is_urgent BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE card_batch_items ADD COLUMN returned BIGINT CHECK (returned >= 0);
ALTER TABLE card_batch_items DROP CONSTRAINT card_batch_items_kind_check;
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_kind_check
    CHECK (kind IN ('REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL'));
ALTER TABLE card_batch_items DROP CONSTRAINT card_batch_items_refusal_check;
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_refusal_check CHECK (refusal IN (
    'NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED', 'BLOCKED_BY_PARTNER', 'EXPIRED', 'NOT_ACTIVATED', 'CLOSED',
    'NOT_ENOUGH_ON_CARD', 'REFUSED_BY_BANK'
));
ALTER TABLE card_batch_items DROP CONSTRAINT card_batch_items_amount_of_top_up;
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_amount_of_top_up
    CHECK (kind = 'WITHDRAWAL' OR (kind = 'REPLENISHMENT') = (amount IS NOT NULL));
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_reason_of_closing
    CHECK ((kind = 'CLOSING') = (reason IS NOT NULL));
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_urgent_closing CHECK (kind = 'CLOSING' OR NOT is_urgent);
ALTER TABLE card_batch_items ADD CONSTRAINT card_batch_items_returned_if_done
    CHECK ((returned IS NOT NULL) = (state = 'DONE' AND kind IN ('CLOSING', 'WITHDRAWAL')));

-- A card is in one open batch of each lane at most: replenishments, withdrawals and closings exclude each other, but for urgent
-- closings.
DROP INDEX card_batch_items_claim;
CREATE UNIQUE INDEX card_batch_items_claim ON card_batch_items (
    partner_id, card_id, (CASE WHEN kind = 'LIMIT_CHANGE' THEN 1 WHEN is_urgent THEN 4 ELSE 2 END)
) WHERE claimed;

ALTER TABLE jobs DROP CONSTRAINT jobs_subject_kind_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_subject_kind_check
    CHECK (subject_kind IN ('ORDER', 'REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL'));

ALTER TABLE counters DROP CONSTRAINT counters_list_check;
ALTER TABLE counters ADD CONSTRAINT counters_list_check CHECK (list IN (
    'categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes', 'events', 'expired_events', 'closings',
    'withdrawals'
));
INSERT INTO counters (partner_id, list, last)
SELECT p.id, l.list, 0 FROM partners p CROSS JOIN (VALUES ('closings'), ('withdrawals')) AS l (list);

CREATE OR REPLACE VIEW v_requests AS
SELECT
    p.name AS partner,
    r.partner_id,
    r.kind,
    r.id AS request_id,
    r.state,
    r.cards,
    r.amount AS amount_kopecks,
    round(r.amount / 100.0, 2) AS amount_roubles,
    r.state_since,
    r.created_at,
    j.due_at,
    j.leased_until,
    j.attempt AS attempts,
    j.failures,
    j.stuck_since,
    r.returned AS returned_kopecks,
    round(r.returned / 100.0, 2) AS returned_roubles
FROM (
    SELECT partner_id, 'ORDER' AS kind, id, state, cards, cost AS amount, state_since, created_at, 0::bigint AS returned
    FROM orders
    UNION ALL
    SELECT partner_id, kind, id, state, cards, amount, state_since, created_at, returned FROM card_batches
) r
JOIN partners p ON p.id = r.partner_id
LEFT JOIN jobs j ON j.partner_id = r.partner_id AND j.subject_kind = r.kind AND j.subject_id = r.id;
