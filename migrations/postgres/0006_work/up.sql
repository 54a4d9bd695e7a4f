-- What the workers have to do. `attempt` counts the claims; only who has the latest one, under a lease, may settle.
-- `may_have_sent`: a claim may have sent something to the bank without settling it.
CREATE TABLE work (
    partner_id    BYTEA   NOT NULL REFERENCES partners (id),
    subject_kind  TEXT    COLLATE "C" NOT NULL CHECK (subject_kind IN ('ORDER', 'REPLENISHMENT', 'LIMIT_CHANGE')),
    subject_id    BYTEA   NOT NULL CHECK (length(subject_id) = 16),
    due_at        BIGINT  NOT NULL,
    attempt       BIGINT  NOT NULL CHECK (attempt >= 0),
    failures      BIGINT  NOT NULL CHECK (failures >= 0),
    may_have_sent BOOLEAN NOT NULL,
    leased_until  BIGINT,
    -- Since when a person has to say what became of it; the workers ask on meanwhile.
    stuck_since   BIGINT,
    PRIMARY KEY (partner_id, subject_kind, subject_id)
);

-- What nobody has, for all partners and for each: partners take turns.
CREATE INDEX work_by_due ON work (due_at) WHERE leased_until IS NULL;
CREATE INDEX work_by_turn ON work (partner_id, due_at, leased_until);
CREATE INDEX work_stuck ON work (stuck_since) WHERE stuck_since IS NOT NULL;
CREATE INDEX work_by_lease ON work (leased_until) WHERE leased_until IS NOT NULL;
