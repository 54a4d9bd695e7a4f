CREATE TABLE categories (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    seq         INTEGER NOT NULL CHECK (seq > 0),
    name        TEXT    NOT NULL,
    -- The name in lower case: the form in which two names are compared.
    folded_name TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, folded_name),
    UNIQUE (partner_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE employees (
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
) STRICT, WITHOUT ROWID;

CREATE INDEX employees_of_category ON employees (partner_id, category_id, seq);
