-- What partners call their requests, and a record of what moved.

ALTER TABLE orders ADD COLUMN reference TEXT COLLATE "C" CHECK (reference <> '');
CREATE INDEX orders_by_reference ON orders (partner_id, reference, seq) WHERE reference IS NOT NULL;
ALTER TABLE card_batches ADD COLUMN reference TEXT COLLATE "C" CHECK (reference <> '');
CREATE INDEX card_batches_by_reference ON card_batches (partner_id, kind, reference, seq) WHERE reference IS NOT NULL;

-- What could be spent and what was held after each movement.
ALTER TABLE movements ADD COLUMN available_after BIGINT NOT NULL DEFAULT 0;
ALTER TABLE movements ADD COLUMN held_after BIGINT NOT NULL DEFAULT 0;
UPDATE movements m SET available_after = s.available, held_after = s.held
FROM (
    SELECT
        n.partner_id,
        n.number,
        CAST(SUM(COALESCE(a.amount, 0)) OVER (PARTITION BY n.partner_id ORDER BY n.number) AS BIGINT) AS available,
        CAST(SUM(COALESCE(h.amount, 0)) OVER (PARTITION BY n.partner_id ORDER BY n.number) AS BIGINT) AS held
    FROM movements n
    LEFT JOIN entries a ON a.partner_id = n.partner_id AND a.movement = n.number AND a.account = 'AVAILABLE'
    LEFT JOIN entries h ON h.partner_id = n.partner_id AND h.movement = n.number AND h.account = 'HELD'
) s
WHERE s.partner_id = m.partner_id AND s.number = m.number;
-- Where the movements of a period begin and end.
CREATE INDEX movements_by_time ON movements (partner_id, created_at, number);

-- The transactions of all cards of a partner, numbered without gaps in the order in which the service learnt of them. Those of
-- before are numbered in the order of their execution.
ALTER TABLE transactions ADD COLUMN seq BIGINT NOT NULL DEFAULT 0;
UPDATE transactions t SET seq = s.seq
FROM (
    SELECT partner_id, card_id, id,
        ROW_NUMBER() OVER (PARTITION BY partner_id ORDER BY executed_at, card_id, id) AS seq
    FROM transactions
) s
WHERE s.partner_id = t.partner_id AND s.card_id = t.card_id AND s.id = t.id;
CREATE UNIQUE INDEX transactions_by_number ON transactions (partner_id, seq);
CREATE INDEX transactions_of_card_by_number ON transactions (partner_id, card_id, seq);

ALTER TABLE counters DROP CONSTRAINT counters_list_check;
ALTER TABLE counters ADD CONSTRAINT counters_list_check CHECK (list IN (
    'categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes', 'closings', 'withdrawals',
    'transactions', 'events', 'expired_events'
));
INSERT INTO counters (partner_id, list, last)
SELECT p.id, 'transactions', (SELECT count(*) FROM transactions t WHERE t.partner_id = p.id) FROM partners p;

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
    round(r.returned / 100.0, 2) AS returned_roubles,
    r.reference
FROM (
    SELECT partner_id, 'ORDER' AS kind, id, state, cards, cost AS amount, state_since, created_at, 0::bigint AS returned,
        reference
    FROM orders
    UNION ALL
    SELECT partner_id, kind, id, state, cards, amount, state_since, created_at, returned, reference FROM card_batches
) r
JOIN partners p ON p.id = r.partner_id
LEFT JOIN jobs j ON j.partner_id = r.partner_id AND j.subject_kind = r.kind AND j.subject_id = r.id;
