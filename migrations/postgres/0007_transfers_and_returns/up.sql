-- Money that comes back from cards, that is paid out to the partner, and deposits that are reversed. A deposit's reference is
-- one of a transfer now, since its reversal and a payment have one too; it counts once for each kind of movement.
ALTER TABLE movements RENAME COLUMN deposit_reference TO transfer_reference;
ALTER TABLE movements ADD COLUMN closing_id UUID;
ALTER TABLE movements ADD COLUMN withdrawal_id UUID;
ALTER TABLE movements ADD FOREIGN KEY (partner_id, closing_id) REFERENCES card_batches (partner_id, id);
ALTER TABLE movements ADD FOREIGN KEY (partner_id, withdrawal_id) REFERENCES card_batches (partner_id, id);
ALTER TABLE movements DROP CONSTRAINT movements_kind_check;
ALTER TABLE movements ADD CONSTRAINT movements_kind_check
    CHECK (kind IN ('DEPOSIT', 'HOLD', 'CAPTURE', 'RELEASE', 'RETURN', 'WITHDRAWAL', 'CORRECTION'));
ALTER TABLE movements DROP CONSTRAINT movements_one_reference;
ALTER TABLE movements ADD CONSTRAINT movements_one_reference CHECK (
    num_nonnulls(transfer_reference, order_id, replenishment_id, closing_id, withdrawal_id) = 1
);
DROP INDEX movements_deposit;
CREATE UNIQUE INDEX movements_transfer ON movements (partner_id, kind, transfer_reference)
    WHERE transfer_reference IS NOT NULL;

CREATE OR REPLACE VIEW v_movements AS
SELECT
    p.name AS partner,
    m.partner_id,
    m.number AS movement,
    m.kind,
    coalesce(m.transfer_reference, coalesce(m.order_id, m.replenishment_id, m.closing_id, m.withdrawal_id)::text) AS reference,
    n.account,
    n.amount AS amount_kopecks,
    round(n.amount / 100.0, 2) AS amount_roubles,
    m.created_at
FROM movements m
JOIN entries n ON n.partner_id = m.partner_id AND n.movement = m.number
JOIN partners p ON p.id = m.partner_id;
