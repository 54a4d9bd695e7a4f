-- The report of each employee and month: who had a card before it was unlinked, and months that are closed.

-- `number` counts the former holders of a card from 1.
CREATE TABLE former_card_holders (
    partner_id  UUID    NOT NULL,
    card_id     UUID    NOT NULL,
    number      BIGINT NOT NULL CHECK (number > 0),
    employee_id UUID    NOT NULL,
    until       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (partner_id, card_id, number),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id)
);

CREATE INDEX former_card_holders_of_employee ON former_card_holders (partner_id, employee_id, card_id);

-- `month` is its first day. Transactions up to number `known` belong to it, later ones to a later month. `kept_up_to` is the place
-- up to which its rows are kept; without `sha256`, that of its file, it is still being closed. `erasures` counts the persons whose
-- names were erased since it began to be closed.
CREATE TABLE closed_months (
    partner_id UUID    NOT NULL REFERENCES partners (id),
    month      DATE NOT NULL,
    known      BIGINT NOT NULL CHECK (known >= 0),
    kept_up_to BIGINT NOT NULL CHECK (kept_up_to >= 0),
    erasures   BIGINT NOT NULL CHECK (erasures >= 0),
    is_changed BOOLEAN NOT NULL,
    sha256     BYTEA    CHECK (octet_length(sha256) = 32),
    closed_at  TIMESTAMPTZ,
    PRIMARY KEY (partner_id, month),
    CONSTRAINT closed_months_closed CHECK ((sha256 IS NULL) = (closed_at IS NULL))
);

-- The rows of a closed month, with names and categories as of its closing; amounts are kopecks. A row without an employee is that
-- of the cards that nobody has had.
CREATE TABLE closed_month_rows (
    partner_id   UUID    NOT NULL,
    month        DATE NOT NULL,
    place        BIGINT NOT NULL CHECK (place > 0),
    employee_id  UUID,
    custom_id    TEXT,
    surname      TEXT,
    name         TEXT,
    patronymic   TEXT,
    category_id  UUID,
    category     TEXT,
    opening      BIGINT NOT NULL,
    given        BIGINT NOT NULL,
    spent        BIGINT NOT NULL,
    refunded     BIGINT NOT NULL,
    returned     BIGINT NOT NULL,
    correction   BIGINT NOT NULL,
    late         BIGINT NOT NULL,
    payments     BIGINT NOT NULL,
    transactions BIGINT NOT NULL,
    PRIMARY KEY (partner_id, month, place),
    FOREIGN KEY (partner_id, month) REFERENCES closed_months (partner_id, month),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id)
);

CREATE INDEX closed_month_rows_of_employee ON closed_month_rows (partner_id, employee_id) WHERE employee_id IS NOT NULL;
