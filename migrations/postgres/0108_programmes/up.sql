-- Programmes, which make a run for each period, and the calendar of holidays by which they move.

-- `terms` and `proposed_terms` are JSON; the latter wait for an approval. `look_at`: when it is looked at without a caller.
CREATE TABLE programmes (
    partner_id       UUID    NOT NULL REFERENCES partners (id),
    id               UUID    NOT NULL,
    name             TEXT    NOT NULL CHECK (name <> ''),
    terms            TEXT    NOT NULL,
    state            TEXT    NOT NULL CHECK (state IN ('WAITING_APPROVAL', 'ACTIVE', 'PAUSED', 'ENDED')),
    proposed_terms   TEXT,
    proposed_by      TEXT,
    proposed_at      TIMESTAMPTZ,
    created_by       TEXT    NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    since            TIMESTAMPTZ NOT NULL,
    last_period      TEXT,
    notice_period    TEXT,
    is_of_the_day    BOOLEAN NOT NULL,
    told_short       BOOLEAN NOT NULL,
    look_at          TIMESTAMPTZ,
    PRIMARY KEY (partner_id, id),
    CONSTRAINT programmes_proposal
        CHECK ((proposed_terms IS NULL) = (proposed_by IS NULL) AND (proposed_terms IS NULL) = (proposed_at IS NULL))
);

CREATE INDEX programmes_by_look ON programmes (look_at) WHERE look_at IS NOT NULL;

-- Days on which nobody works, and Saturdays and Sundays on which people do.
CREATE TABLE calendar_days (
    day  DATE NOT NULL PRIMARY KEY,
    kind TEXT    NOT NULL CHECK (kind IN ('holiday', 'working'))
);

-- The programme that made a run, for which period, by which terms, and when the run is tried again.
ALTER TABLE runs ADD COLUMN programme_id UUID;
ALTER TABLE runs ADD COLUMN period TEXT;
ALTER TABLE runs ADD COLUMN terms TEXT;
ALTER TABLE runs ADD COLUMN retry_at TIMESTAMPTZ;

CREATE UNIQUE INDEX runs_programme_period ON runs (partner_id, programme_id, period) WHERE programme_id IS NOT NULL;
CREATE INDEX runs_of_programmes_open ON runs (partner_id) WHERE programme_id IS NOT NULL AND state = 'IN_PROCESS';
CREATE INDEX runs_by_retry ON runs (retry_at) WHERE retry_at IS NOT NULL;

-- What the card held when its programme decided on the amount, kopecks.
ALTER TABLE run_items ADD COLUMN balance_seen BIGINT;

CREATE INDEX run_requests_by_request ON run_requests (partner_id, request_id);
