-- What a partner wants done with the cards of employees who leave, and those who have left since.

-- Cards are frozen at once; what is left on them is taken back after so many days of 24 hours, and they are closed.
ALTER TABLE partners ADD COLUMN leavers_freeze INTEGER NOT NULL DEFAULT 0 CHECK (leavers_freeze IN (0, 1));
ALTER TABLE partners ADD COLUMN leavers_after_days INTEGER CHECK (leavers_after_days BETWEEN 0 AND 3650);
ALTER TABLE partners ADD COLUMN leavers_close INTEGER NOT NULL DEFAULT 0 CHECK (leavers_close IN (0, 1));

-- `run_id`: the run that takes back what is left, once there is one. `look_at`: when the next step is due.
CREATE TABLE leavers (
    partner_id  BLOB    NOT NULL,
    employee_id BLOB    NOT NULL,
    left_at     INTEGER NOT NULL,
    closes      INTEGER NOT NULL CHECK (closes IN (0, 1)),
    run_id      BLOB    CHECK (length(run_id) = 16),
    look_at     INTEGER,
    PRIMARY KEY (partner_id, employee_id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX leavers_by_look ON leavers (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX leavers_by_run ON leavers (partner_id, run_id) WHERE run_id IS NOT NULL;

-- The cards that were frozen because their holder left, with the status that they had.
CREATE TABLE leaver_cards (
    partner_id  BLOB NOT NULL,
    employee_id BLOB NOT NULL,
    card_id     BLOB NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('MAIN', 'ADDITIONAL')),
    PRIMARY KEY (partner_id, employee_id, card_id),
    FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id)
) STRICT, WITHOUT ROWID;
