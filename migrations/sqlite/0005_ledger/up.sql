-- What lies on the partner's accounts: the sum of its entries, kept so that nobody has to add them up.
-- `last_movement` numbers the movements.
CREATE TABLE balances (
    partner_id    BLOB    NOT NULL PRIMARY KEY REFERENCES partners (id),
    deposited     INTEGER NOT NULL,
    available     INTEGER NOT NULL,
    held          INTEGER NOT NULL,
    spent         INTEGER NOT NULL,
    last_movement INTEGER NOT NULL CHECK (last_movement >= 0),
    updated_at    INTEGER NOT NULL,
    CONSTRAINT balances_deposited_not_above_zero CHECK (deposited <= 0),
    CONSTRAINT balances_available_not_below_zero CHECK (available >= 0),
    CONSTRAINT balances_held_not_below_zero CHECK (held >= 0),
    CONSTRAINT balances_spent_not_below_zero CHECK (spent >= 0),
    CONSTRAINT balances_add_up_to_zero CHECK (deposited + available + held + spent = 0)
) STRICT, WITHOUT ROWID;

-- A movement belongs to a deposit, an order or a replenishment.
CREATE TABLE movements (
    partner_id        BLOB    NOT NULL REFERENCES partners (id),
    number            INTEGER NOT NULL CHECK (number > 0),
    kind              TEXT    NOT NULL CHECK (kind IN ('DEPOSIT', 'HOLD', 'CAPTURE', 'RELEASE')),
    deposit_reference TEXT,
    order_id          BLOB,
    replenishment_id  BLOB,
    created_at        INTEGER NOT NULL,
    PRIMARY KEY (partner_id, number),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    FOREIGN KEY (partner_id, replenishment_id) REFERENCES replenishments (partner_id, id),
    CONSTRAINT movements_one_reference CHECK (
        (deposit_reference IS NOT NULL) + (order_id IS NOT NULL) + (replenishment_id IS NOT NULL) = 1
    )
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX movements_deposit ON movements (partner_id, deposit_reference) WHERE kind = 'DEPOSIT';

CREATE TABLE entries (
    partner_id BLOB    NOT NULL,
    movement   INTEGER NOT NULL,
    account    TEXT    NOT NULL CHECK (account IN ('DEPOSITED', 'AVAILABLE', 'HELD', 'SPENT')),
    amount     INTEGER NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (partner_id, movement, account),
    FOREIGN KEY (partner_id, movement) REFERENCES movements (partner_id, number)
) STRICT, WITHOUT ROWID;
