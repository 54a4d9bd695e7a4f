CREATE TABLE categories (
    partner_id  BYTEA   NOT NULL REFERENCES partners (id),
    id          BYTEA   NOT NULL CHECK (length(id) = 16),
    seq         BIGINT  NOT NULL CHECK (seq > 0),
    name        TEXT    NOT NULL,
    -- The name in lower case: the form in which two names are compared.
    folded_name TEXT    COLLATE "C" NOT NULL,
    created_at  BIGINT  NOT NULL,
    PRIMARY KEY (partner_id, id),
    CONSTRAINT categories_name UNIQUE (partner_id, folded_name),
    UNIQUE (partner_id, seq)
);

CREATE TABLE employees (
    partner_id        BYTEA   NOT NULL REFERENCES partners (id),
    id                BYTEA   NOT NULL CHECK (length(id) = 16),
    seq               BIGINT  NOT NULL CHECK (seq > 0),
    custom_id         TEXT    COLLATE "C" NOT NULL,
    surname           TEXT,
    name              TEXT,
    patronymic        TEXT,
    phone             TEXT,
    email             TEXT,
    category_id       BYTEA,
    status            TEXT    NOT NULL CHECK (status IN ('WORK', 'VACATION', 'MEDICAL', 'DONT_WORK')),
    created_at        BIGINT  NOT NULL,
    status_updated_at BIGINT  NOT NULL,
    -- Surname, name and custom identifier in lower case. Made by the service: what
    -- the database takes for lower case depends on its locale.
    search_text       TEXT    NOT NULL,
    PRIMARY KEY (partner_id, id),
    CONSTRAINT employees_custom_id UNIQUE (partner_id, custom_id),
    UNIQUE (partner_id, seq),
    FOREIGN KEY (partner_id, category_id) REFERENCES categories (partner_id, id)
);

CREATE INDEX employees_of_category ON employees (partner_id, category_id, seq);
