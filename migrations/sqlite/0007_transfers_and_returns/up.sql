-- Money that comes back from cards, that is paid out to the partner, and deposits that are reversed. A deposit's reference is
-- one of a transfer now, since its reversal and a payment have one too; it counts once for each kind of movement.
DROP VIEW v_movements;
CREATE TABLE new_movements (
    partner_id         BLOB    NOT NULL REFERENCES partners (id),
    number             INTEGER NOT NULL CHECK (number > 0),
    kind               TEXT    NOT NULL
        CHECK (kind IN ('DEPOSIT', 'HOLD', 'CAPTURE', 'RELEASE', 'RETURN', 'WITHDRAWAL', 'CORRECTION')),
    transfer_reference TEXT,
    order_id           BLOB,
    replenishment_id   BLOB,
    created_at         INTEGER NOT NULL,
    closing_id         BLOB,
    withdrawal_id      BLOB,
    PRIMARY KEY (partner_id, number),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    FOREIGN KEY (partner_id, replenishment_id) REFERENCES card_batches (partner_id, id),
    FOREIGN KEY (partner_id, closing_id) REFERENCES card_batches (partner_id, id),
    FOREIGN KEY (partner_id, withdrawal_id) REFERENCES card_batches (partner_id, id),
    CONSTRAINT movements_one_reference CHECK (
        (transfer_reference IS NOT NULL) + (order_id IS NOT NULL) + (replenishment_id IS NOT NULL)
            + (closing_id IS NOT NULL) + (withdrawal_id IS NOT NULL) = 1
    )
) STRICT, WITHOUT ROWID;
INSERT INTO new_movements SELECT *, NULL, NULL FROM movements;
DROP TABLE movements;
ALTER TABLE new_movements RENAME TO movements;
CREATE UNIQUE INDEX movements_transfer ON movements (partner_id, kind, transfer_reference)
    WHERE transfer_reference IS NOT NULL;

-- The entries of the ledger; `reference` is that of the transfer, or the identifier of the request.
CREATE VIEW v_movements AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(m.partner_id), 1, 8), substr(hex(m.partner_id), 9, 4), substr(hex(m.partner_id), 13, 4),
        substr(hex(m.partner_id), 17, 4), substr(hex(m.partner_id), 21)
    )) AS partner_id,
    m.number AS movement,
    m.kind,
    coalesce(m.transfer_reference, lower(format(
        '%s-%s-%s-%s-%s', substr(hex(m.request_id), 1, 8), substr(hex(m.request_id), 9, 4), substr(hex(m.request_id), 13, 4),
        substr(hex(m.request_id), 17, 4), substr(hex(m.request_id), 21)
    ))) AS reference,
    n.account,
    n.amount AS amount_kopecks,
    format('%.2f', n.amount / 100.0) AS amount_roubles,
    datetime(m.created_at / 1000000, 'unixepoch') AS created_at
FROM (
    SELECT *, coalesce(order_id, replenishment_id, closing_id, withdrawal_id) AS request_id FROM movements
) m
JOIN entries n ON n.partner_id = m.partner_id AND n.movement = m.number
JOIN partners p ON p.id = m.partner_id;
