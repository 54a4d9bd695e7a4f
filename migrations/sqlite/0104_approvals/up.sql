-- The amount above which a partner's runs wait for a second person's approval; zero for none.

ALTER TABLE balances ADD COLUMN approval_above INTEGER NOT NULL DEFAULT 0
    CONSTRAINT balances_approval_above_not_below_zero CHECK (approval_above >= 0);

DROP VIEW v_balances;
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
    b.threshold AS threshold_kopecks,
    b.approval_above AS approval_above_kopecks
FROM balances b
JOIN partners p ON p.id = b.partner_id;
