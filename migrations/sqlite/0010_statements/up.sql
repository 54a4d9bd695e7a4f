-- What partners call their requests, and a record of what moved.

ALTER TABLE orders ADD COLUMN reference TEXT CHECK (reference <> '');
CREATE INDEX orders_by_reference ON orders (partner_id, reference, seq) WHERE reference IS NOT NULL;
ALTER TABLE card_batches ADD COLUMN reference TEXT CHECK (reference <> '');
CREATE INDEX card_batches_by_reference ON card_batches (partner_id, kind, reference, seq) WHERE reference IS NOT NULL;

-- What could be spent and what was held after each movement.
ALTER TABLE movements ADD COLUMN available_after INTEGER NOT NULL DEFAULT 0;
ALTER TABLE movements ADD COLUMN held_after INTEGER NOT NULL DEFAULT 0;
UPDATE movements SET available_after = s.available, held_after = s.held
FROM (
    SELECT
        n.partner_id,
        n.number,
        SUM(COALESCE(a.amount, 0)) OVER (PARTITION BY n.partner_id ORDER BY n.number) AS available,
        SUM(COALESCE(h.amount, 0)) OVER (PARTITION BY n.partner_id ORDER BY n.number) AS held
    FROM movements n
    LEFT JOIN entries a ON a.partner_id = n.partner_id AND a.movement = n.number AND a.account = 'AVAILABLE'
    LEFT JOIN entries h ON h.partner_id = n.partner_id AND h.movement = n.number AND h.account = 'HELD'
) s
WHERE s.partner_id = movements.partner_id AND s.number = movements.number;
-- Where the movements of a period begin and end.
CREATE INDEX movements_by_time ON movements (partner_id, created_at, number);

-- The transactions of all cards of a partner, numbered without gaps in the order in which the service learnt of them. Those of
-- before are numbered in the order of their execution.
ALTER TABLE transactions ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE transactions SET seq = s.seq
FROM (
    SELECT partner_id, card_id, id,
        ROW_NUMBER() OVER (PARTITION BY partner_id ORDER BY executed_at, card_id, id) AS seq
    FROM transactions
) s
WHERE s.partner_id = transactions.partner_id AND s.card_id = transactions.card_id AND s.id = transactions.id;
CREATE UNIQUE INDEX transactions_by_number ON transactions (partner_id, seq);
CREATE INDEX transactions_of_card_by_number ON transactions (partner_id, card_id, seq);

-- SQLite changes a constraint with its table.
CREATE TABLE new_counters (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    list       TEXT    NOT NULL CHECK (list IN (
        'categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes', 'closings', 'withdrawals',
        'transactions', 'events', 'expired_events'
    )),
    last       INTEGER NOT NULL CHECK (last >= 0),
    PRIMARY KEY (partner_id, list)
) STRICT, WITHOUT ROWID;
INSERT INTO new_counters SELECT partner_id, list, last FROM counters;
INSERT INTO new_counters
SELECT p.id, 'transactions', (SELECT count(*) FROM transactions t WHERE t.partner_id = p.id) FROM partners p;
DROP TABLE counters;
ALTER TABLE new_counters RENAME TO counters;

DROP VIEW v_requests;
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
