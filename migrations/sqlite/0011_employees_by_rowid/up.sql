-- Rows of 300 bytes are slow in a table that is its own index: each partner's new ones go to a place of their own within it.
-- With a rowid all of them are added at the end of the table, and only the short entries of its indexes are spread. Else
-- the table is what it was. Foreign keys are not enforced while migrations run, so the cards keep theirs.
CREATE TABLE employees_by_rowid (
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
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, custom_id),
    UNIQUE (partner_id, seq),
    FOREIGN KEY (partner_id, category_id) REFERENCES categories (partner_id, id)
) STRICT;

INSERT INTO employees_by_rowid (
    partner_id, id, seq, custom_id, surname, name, patronymic, phone, email, category_id, status, created_at,
    status_updated_at, search_text
)
SELECT
    partner_id, id, seq, custom_id, surname, name, patronymic, phone, email, category_id, status, created_at,
    status_updated_at, search_text
FROM employees;

DROP TABLE employees;
ALTER TABLE employees_by_rowid RENAME TO employees;

CREATE INDEX employees_of_category ON employees (partner_id, category_id, seq) WHERE category_id IS NOT NULL;
