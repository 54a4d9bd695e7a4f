-- What lies on the partner's accounts: the sum of its entries, kept so that nobody has to add them up.
-- `last_movement` numbers the movements.
CREATE TABLE balances (
    partner_id    BYTEA   NOT NULL PRIMARY KEY REFERENCES partners (id),
    deposited     BIGINT  NOT NULL,
    available     BIGINT  NOT NULL,
    held          BIGINT  NOT NULL,
    spent         BIGINT  NOT NULL,
    last_movement BIGINT  NOT NULL CHECK (last_movement >= 0),
    updated_at    BIGINT  NOT NULL,
    CONSTRAINT balances_deposited_not_above_zero CHECK (deposited <= 0),
    CONSTRAINT balances_available_not_below_zero CHECK (available >= 0),
    CONSTRAINT balances_held_not_below_zero CHECK (held >= 0),
    CONSTRAINT balances_spent_not_below_zero CHECK (spent >= 0),
    CONSTRAINT balances_add_up_to_zero CHECK (deposited + available + held + spent = 0)
) WITH (fillfactor = 50);

-- A movement belongs to a deposit, an order or a replenishment.
CREATE TABLE movements (
    partner_id        BYTEA   NOT NULL REFERENCES partners (id),
    number            BIGINT  NOT NULL CHECK (number > 0),
    kind              TEXT    NOT NULL CHECK (kind IN ('DEPOSIT', 'HOLD', 'CAPTURE', 'RELEASE')),
    deposit_reference TEXT    COLLATE "C",
    order_id          BYTEA,
    replenishment_id  BYTEA,
    created_at        BIGINT  NOT NULL,
    PRIMARY KEY (partner_id, number),
    FOREIGN KEY (partner_id, order_id) REFERENCES orders (partner_id, id),
    FOREIGN KEY (partner_id, replenishment_id) REFERENCES replenishments (partner_id, id),
    CONSTRAINT movements_one_reference CHECK (
        num_nonnulls(deposit_reference, order_id, replenishment_id) = 1
    )
);

CREATE UNIQUE INDEX movements_deposit ON movements (partner_id, deposit_reference) WHERE kind = 'DEPOSIT';

CREATE TABLE entries (
    partner_id BYTEA   NOT NULL,
    movement   BIGINT  NOT NULL,
    account    TEXT    COLLATE "C" NOT NULL CHECK (account IN ('DEPOSITED', 'AVAILABLE', 'HELD', 'SPENT')),
    amount     BIGINT  NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (partner_id, movement, account),
    FOREIGN KEY (partner_id, movement) REFERENCES movements (partner_id, number)
);
