-- A purchase that was declined is recorded under its key too. SQLite changes a column with its table.
CREATE TABLE new_commands (
    key            TEXT   NOT NULL PRIMARY KEY,
    transaction_id BIGINT REFERENCES transactions (id),
    -- The code of the refusal.
    refusal        TEXT CHECK (refusal <> ''),
    made_at        BIGINT NOT NULL,
    CHECK ((transaction_id IS NULL) <> (refusal IS NULL))
);
INSERT INTO new_commands SELECT key, transaction_id, NULL, made_at FROM commands;
DROP TABLE commands;
ALTER TABLE new_commands RENAME TO commands;
