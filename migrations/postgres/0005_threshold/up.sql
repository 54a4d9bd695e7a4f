-- A partner hears of a balance below its threshold (kopecks); zero is none.
ALTER TABLE balances ADD COLUMN threshold BIGINT NOT NULL DEFAULT 0
    CONSTRAINT balances_threshold_not_below_zero CHECK (threshold >= 0);

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
    b.threshold AS threshold_kopecks
FROM balances b
JOIN partners p ON p.id = b.partner_id;
