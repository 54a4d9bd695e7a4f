-- The bank's feed: how far it was read, and what of it must not be told twice.

-- One row. The feed was read up to number `cursor`. At `forgotten_at` the bank had deleted what was not read yet.
-- `lease_owner` is the process that reads.
CREATE TABLE bank_feed (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    cursor       INTEGER NOT NULL CHECK (cursor >= 0),
    forgotten_at INTEGER,
    lease_owner  BLOB,
    leased_until INTEGER
) STRICT;
INSERT INTO bank_feed (id, cursor) VALUES (1, 0);

-- Declined purchases of the latest entries: `seq` is the entry's number.
CREATE TABLE bank_declines (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    seq        INTEGER NOT NULL,
    PRIMARY KEY (partner_id, seq)
) STRICT, WITHOUT ROWID;
-- What is not read again is removed.
CREATE INDEX bank_declines_by_seq ON bank_declines (seq);

-- When the next event of a card's expiry is due: 30 days before its last day, then the day after it.
ALTER TABLE cards ADD COLUMN expiry_due INTEGER;
UPDATE cards SET expiry_due = valid_until - 30;
CREATE INDEX cards_by_expiry ON cards (expiry_due) WHERE expiry_due IS NOT NULL;
