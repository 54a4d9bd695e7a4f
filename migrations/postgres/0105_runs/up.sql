-- Runs: lists of changes for many people, which are checked and shown before they become requests.

-- `digest` names all that the run does. `reference` is one run's of a kind, unless that run came to nothing.
CREATE TABLE runs (
    partner_id         UUID    NOT NULL REFERENCES partners (id),
    id                 UUID    NOT NULL,
    seq                BIGINT  NOT NULL CHECK (seq > 0),
    kind               TEXT    COLLATE "C" NOT NULL CHECK (kind IN ('TOP_UP', 'WITHDRAW', 'LIMIT', 'VIRTUAL_ORDER', 'EMPLOYEES')),
    reference          TEXT    CHECK (reference <> ''),
    planned_at         TIMESTAMPTZ,
    creates_categories BOOLEAN NOT NULL,
    items              BIGINT  NOT NULL CHECK (items >= 0),
    faulty             BIGINT  NOT NULL CHECK (faulty >= 0 AND faulty <= items),
    amount             BIGINT  NOT NULL CHECK (amount >= 0),
    available          BIGINT  NOT NULL,
    available_after    BIGINT  NOT NULL,
    digest             BYTEA   NOT NULL CHECK (length(digest) = 32),
    created_by         TEXT    NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    state              TEXT    NOT NULL
        CHECK (state IN (
            'DRAFT', 'WAITING_APPROVAL', 'SCHEDULED', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED', 'EXPIRED'
        )),
    state_since        TIMESTAMPTZ NOT NULL,
    submitted_by       TEXT,
    submitted_at       TIMESTAMPTZ,
    approved_by        TEXT,
    refusal            TEXT,
    -- When it is looked at without a caller: its planned time while SCHEDULED, the end of its waiting before.
    due_at             TIMESTAMPTZ,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq),
    CHECK ((submitted_by IS NULL) = (submitted_at IS NULL))
);

CREATE UNIQUE INDEX runs_reference ON runs (partner_id, kind, reference)
    WHERE reference IS NOT NULL AND state <> 'REJECTED' AND state <> 'EXPIRED';
CREATE INDEX runs_by_due ON runs (due_at) WHERE due_at IS NOT NULL;

-- `cells`, the values as they were given, is encrypted; NULL once the employee was erased.
CREATE TABLE run_items (
    partner_id     UUID    NOT NULL,
    run_id         UUID    NOT NULL,
    ordinal        BIGINT  NOT NULL CHECK (ordinal >= 0),
    line           BIGINT  NOT NULL CHECK (line > 0),
    cells          BYTEA,
    spending_limit TEXT,
    employee_id    UUID,
    custom_id      TEXT,
    card_id        UUID,
    is_main        BOOLEAN NOT NULL,
    amount         BIGINT  CHECK (amount >= 0),
    fault_field    TEXT,
    fault_code     TEXT,
    fault_detail   TEXT,
    outcome        TEXT    CHECK (outcome IN ('DONE', 'REFUSED', 'SKIPPED')),
    reason         TEXT,
    PRIMARY KEY (partner_id, run_id, ordinal),
    FOREIGN KEY (partner_id, run_id) REFERENCES runs (partner_id, id)
);

CREATE INDEX run_items_of_employee ON run_items (partner_id, employee_id) WHERE employee_id IS NOT NULL;

-- The requests that a run became, in their order.
CREATE TABLE run_requests (
    partner_id UUID    NOT NULL,
    run_id     UUID    NOT NULL,
    position   BIGINT  NOT NULL CHECK (position >= 0),
    kind       TEXT    NOT NULL CHECK (kind IN ('ORDER', 'REPLENISHMENT', 'LIMIT_CHANGE', 'WITHDRAWAL')),
    request_id UUID    NOT NULL,
    PRIMARY KEY (partner_id, run_id, position),
    FOREIGN KEY (partner_id, run_id) REFERENCES runs (partner_id, id)
);

-- Jobs carry runs out, too.
ALTER TABLE jobs DROP CONSTRAINT jobs_subject_kind_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_subject_kind_check
    CHECK (subject_kind IN ('ORDER', 'REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL', 'RUN'));
