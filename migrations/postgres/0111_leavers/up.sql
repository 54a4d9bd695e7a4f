-- What a partner wants done with the cards of employees who leave, and those who have left since.

-- Cards are frozen at once; what is left on them is taken back after so many days of 24 hours, and they are closed.
ALTER TABLE partners ADD COLUMN leavers_freeze BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE partners ADD COLUMN leavers_after_days BIGINT CHECK (leavers_after_days BETWEEN 0 AND 3650);
ALTER TABLE partners ADD COLUMN leavers_close BOOLEAN NOT NULL DEFAULT FALSE;

-- `run_id`: the run that takes back what is left, once there is one. `look_at`: when the next step is due.
CREATE TABLE leavers (
    partner_id  UUID        NOT NULL,
    employee_id UUID        NOT NULL,
    left_at     TIMESTAMPTZ NOT NULL,
    closes      BOOLEAN     NOT NULL,
    run_id      UUID,
    look_at     TIMESTAMPTZ,
    PRIMARY KEY (partner_id, employee_id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id)
);

CREATE INDEX leavers_by_look ON leavers (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX leavers_by_run ON leavers (partner_id, run_id) WHERE run_id IS NOT NULL;

-- The cards that were frozen because their holder left, with the status that they had.
CREATE TABLE leaver_cards (
    partner_id  UUID NOT NULL,
    employee_id UUID NOT NULL,
    card_id     UUID NOT NULL,
    status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('MAIN', 'ADDITIONAL')),
    PRIMARY KEY (partner_id, employee_id, card_id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id)
);
