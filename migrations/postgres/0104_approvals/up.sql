-- The amount above which a partner's runs wait for a second person's approval; zero for none.

ALTER TABLE balances ADD COLUMN approval_above BIGINT NOT NULL DEFAULT 0
    CONSTRAINT balances_approval_above_not_below_zero CHECK (approval_above >= 0);

CREATE OR REPLACE VIEW v_balances AS
SELECT
    p.name AS partner,
    b.partner_id,
    p.status,
    b.available AS available_kopecks,
    round(b.available / 100.0, 2) AS available_roubles,
    b.held AS held_kopecks,
    round(b.held / 100.0, 2) AS held_roubles,
    b.spent AS spent_kopecks,
    round(b.spent / 100.0, 2) AS spent_roubles,
    round(-b.deposited / 100.0, 2) AS deposited_roubles,
    b.last_movement AS movements,
    b.updated_at,
    b.threshold AS threshold_kopecks,
    b.approval_above AS approval_above_kopecks
FROM balances b
JOIN partners p ON p.id = b.partner_id;
