-- Deposits that one operator has entered, until another one confirms or refuses them.

-- `entered_by`: the actor, as the audit log names it. A row goes when the deposit is booked or refused.
CREATE TABLE pending_deposits (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    reference  TEXT    NOT NULL,
    amount     INTEGER NOT NULL CHECK (amount > 0),
    entered_by TEXT    NOT NULL,
    entered_at INTEGER NOT NULL,
    PRIMARY KEY (partner_id, reference)
) STRICT, WITHOUT ROWID;
