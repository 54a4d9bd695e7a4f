-- The report of each employee and month: who had a card before it was unlinked, and months that are closed.

-- `number` counts the former holders of a card from 1.
CREATE TABLE former_card_holders (
    partner_id  BLOB    NOT NULL,
    card_id     BLOB    NOT NULL,
    number      INTEGER NOT NULL CHECK (number > 0),
    employee_id BLOB    NOT NULL,
    until       INTEGER NOT NULL,
    PRIMARY KEY (partner_id, card_id, number),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX former_card_holders_of_employee ON former_card_holders (partner_id, employee_id, card_id);

-- `month` is its first day. Transactions up to number `known` belong to it, later ones to a later month. `kept_up_to` is the place
-- up to which its rows are kept; without `sha256`, that of its file, it is still being closed. `erasures` counts the persons whose
-- names were erased since it began to be closed.
CREATE TABLE closed_months (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    month      INTEGER NOT NULL,
    known      INTEGER NOT NULL CHECK (known >= 0),
    kept_up_to INTEGER NOT NULL CHECK (kept_up_to >= 0),
    erasures   INTEGER NOT NULL CHECK (erasures >= 0),
    is_changed INTEGER NOT NULL CHECK (is_changed IN (0, 1)),
    sha256     BLOB    CHECK (length(sha256) = 32),
    closed_at  INTEGER,
    PRIMARY KEY (partner_id, month),
    CONSTRAINT closed_months_closed CHECK ((sha256 IS NULL) = (closed_at IS NULL))
) STRICT, WITHOUT ROWID;

-- The rows of a closed month, with names and categories as of its closing; amounts are kopecks. A row without an employee is that
-- of the cards that nobody has had.
CREATE TABLE closed_month_rows (
    partner_id   BLOB    NOT NULL,
    month        INTEGER NOT NULL,
    place        INTEGER NOT NULL CHECK (place > 0),
    employee_id  BLOB,
    custom_id    TEXT,
    surname      TEXT,
    name         TEXT,
    patronymic   TEXT,
    category_id  BLOB,
    category     TEXT,
    opening      INTEGER NOT NULL,
    given        INTEGER NOT NULL,
    spent        INTEGER NOT NULL,
    refunded     INTEGER NOT NULL,
    returned     INTEGER NOT NULL,
    correction   INTEGER NOT NULL,
    late         INTEGER NOT NULL,
    payments     INTEGER NOT NULL,
    transactions INTEGER NOT NULL,
    PRIMARY KEY (partner_id, month, place),
    FOREIGN KEY (partner_id, month) REFERENCES closed_months (partner_id, month),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX closed_month_rows_of_employee ON closed_month_rows (partner_id, employee_id) WHERE employee_id IS NOT NULL;
