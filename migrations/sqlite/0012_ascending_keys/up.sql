-- Identifiers ascend with time, and so do most keys of calls. With them in front, the new ones of all partners are entered
-- at one place of the index instead of at one of each partner; they are found by both columns all the same. Else the tables
-- are what they were, and their columns stand in the same order. Foreign keys are not enforced while migrations run, so
-- the cards keep theirs.
CREATE TABLE ascending_employees (
    partner_id        BLOB    NOT NULL REFERENCES partners (id),
    id                BLOB    NOT NULL CHECK (length(id) = 16),
    seq               INTEGER NOT NULL CHECK (seq > 0),
    custom_id         TEXT    NOT NULL,
    surname           TEXT,
    name              TEXT,
    patronymic        TEXT,
    phone             TEXT,
    email             TEXT,
    category_id       BLOB,
    status            TEXT    NOT NULL CHECK (status IN ('WORK', 'VACATION', 'MEDICAL', 'DONT_WORK')),
    created_at        INTEGER NOT NULL,
    status_updated_at INTEGER NOT NULL,
    -- Surname, name and custom identifier in lower case. Made by the service: SQLite's lower() knows ASCII only.
    search_text       TEXT    NOT NULL,
    PRIMARY KEY (id, partner_id),
    UNIQUE (partner_id, custom_id),
    UNIQUE (partner_id, seq),
    FOREIGN KEY (partner_id, category_id) REFERENCES categories (partner_id, id)
) STRICT;

INSERT INTO ascending_employees SELECT * FROM employees;

DROP TABLE employees;
ALTER TABLE ascending_employees RENAME TO employees;

CREATE INDEX employees_of_category ON employees (partner_id, category_id, seq) WHERE category_id IS NOT NULL;

CREATE TABLE ascending_answers (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    status      INTEGER NOT NULL CHECK (status BETWEEN 100 AND 599),
    body        BLOB    NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (key, partner_id)
) STRICT;

INSERT INTO ascending_answers SELECT * FROM recorded_answers;

DROP TABLE recorded_answers;
ALTER TABLE ascending_answers RENAME TO recorded_answers;

CREATE INDEX recorded_answers_by_age ON recorded_answers (recorded_at);

-- The identifier is in the index anyway, as the rest of the table's key; PostgreSQL has to be told.
DROP INDEX cards_of_employee;
CREATE INDEX cards_of_employee ON cards (partner_id, employee_id, seq, link_status, id) WHERE employee_id IS NOT NULL;
