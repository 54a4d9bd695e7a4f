-- Deposits that one operator has entered, until another one confirms or refuses them.

-- `entered_by`: the actor, as the audit log names it. A row goes when the deposit is booked or refused.
CREATE TABLE pending_deposits (
    partner_id UUID        NOT NULL REFERENCES partners (id),
    reference  TEXT COLLATE "C" NOT NULL,
    amount     BIGINT      NOT NULL CHECK (amount > 0),
    entered_by TEXT COLLATE "C" NOT NULL,
    entered_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (partner_id, reference)
);
