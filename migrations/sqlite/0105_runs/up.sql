-- Runs: lists of changes for many people, which are checked and shown before they become requests.

-- `digest` names all that the run does. `reference` is one run's of a kind, unless that run came to nothing.
CREATE TABLE runs (
    partner_id         BLOB    NOT NULL REFERENCES partners (id),
    id                 BLOB    NOT NULL CHECK (length(id) = 16),
    seq                INTEGER NOT NULL CHECK (seq > 0),
    kind               TEXT    NOT NULL CHECK (kind IN ('TOP_UP', 'WITHDRAW', 'LIMIT', 'VIRTUAL_ORDER', 'EMPLOYEES')),
    reference          TEXT    CHECK (reference <> ''),
    planned_at         INTEGER,
    creates_categories INTEGER NOT NULL CHECK (creates_categories IN (0, 1)),
    items              INTEGER NOT NULL CHECK (items >= 0),
    faulty             INTEGER NOT NULL CHECK (faulty >= 0 AND faulty <= items),
    amount             INTEGER NOT NULL CHECK (amount >= 0),
    available          INTEGER NOT NULL,
    available_after    INTEGER NOT NULL,
    digest             BLOB    NOT NULL CHECK (length(digest) = 32),
    created_by         TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    state              TEXT    NOT NULL
        CHECK (state IN (
            'DRAFT', 'WAITING_APPROVAL', 'SCHEDULED', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED', 'EXPIRED'
        )),
    state_since        INTEGER NOT NULL,
    submitted_by       TEXT,
    submitted_at       INTEGER,
    approved_by        TEXT,
    refusal            TEXT,
    -- When it is looked at without a caller: its planned time while SCHEDULED, the end of its waiting before.
    due_at             INTEGER,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq),
    CHECK ((submitted_by IS NULL) = (submitted_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX runs_reference ON runs (partner_id, kind, reference)
    WHERE reference IS NOT NULL AND state <> 'REJECTED' AND state <> 'EXPIRED';
CREATE INDEX runs_by_due ON runs (due_at) WHERE due_at IS NOT NULL;

-- `cells`, the values as they were given, is encrypted; NULL once the employee was erased.
CREATE TABLE run_items (
    partner_id     BLOB    NOT NULL,
    run_id         BLOB    NOT NULL,
    ordinal        INTEGER NOT NULL CHECK (ordinal >= 0),
    line           INTEGER NOT NULL CHECK (line > 0),
    cells          BLOB,
    spending_limit TEXT,
    employee_id    BLOB,
    custom_id      TEXT,
    card_id        BLOB,
    is_main        INTEGER NOT NULL CHECK (is_main IN (0, 1)),
    amount         INTEGER CHECK (amount >= 0),
    fault_field    TEXT,
    fault_code     TEXT,
    fault_detail   TEXT,
    outcome        TEXT    CHECK (outcome IN ('DONE', 'REFUSED', 'SKIPPED')),
    reason         TEXT,
    PRIMARY KEY (partner_id, run_id, ordinal),
    FOREIGN KEY (partner_id, run_id) REFERENCES runs (partner_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_items_of_employee ON run_items (partner_id, employee_id) WHERE employee_id IS NOT NULL;

-- The requests that a run became, in their order.
CREATE TABLE run_requests (
    partner_id BLOB    NOT NULL,
    run_id     BLOB    NOT NULL,
    position   INTEGER NOT NULL CHECK (position >= 0),
    kind       TEXT    NOT NULL CHECK (kind IN ('ORDER', 'REPLENISHMENT', 'LIMIT_CHANGE', 'WITHDRAWAL')),
    request_id BLOB    NOT NULL CHECK (length(request_id) = 16),
    PRIMARY KEY (partner_id, run_id, position),
    FOREIGN KEY (partner_id, run_id) REFERENCES runs (partner_id, id)
) STRICT, WITHOUT ROWID;

-- Jobs carry runs out, too. A view that reads a table keeps SQLite from renaming another to its name.
CREATE TABLE jobs_with_runs (
    partner_id    BLOB    NOT NULL REFERENCES partners (id),
    subject_kind  TEXT    NOT NULL
        CHECK (subject_kind IN ('ORDER', 'REPLENISHMENT', 'LIMIT_CHANGE', 'CLOSING', 'WITHDRAWAL', 'RUN')),
    subject_id    BLOB    NOT NULL CHECK (length(subject_id) = 16),
    due_at        INTEGER NOT NULL,
    attempt       INTEGER NOT NULL CHECK (attempt >= 0),
    failures      INTEGER NOT NULL CHECK (failures >= 0),
    may_have_sent INTEGER NOT NULL CHECK (may_have_sent IN (0, 1)),
    leased_until  INTEGER,
    -- Since when the job needs manual review; the workers keep asking the bank meanwhile.
    stuck_since   INTEGER,
    PRIMARY KEY (partner_id, subject_kind, subject_id)
) STRICT, WITHOUT ROWID;
INSERT INTO jobs_with_runs
    (partner_id, subject_kind, subject_id, due_at, attempt, failures, may_have_sent, leased_until, stuck_since)
SELECT partner_id, subject_kind, subject_id, due_at, attempt, failures, may_have_sent, leased_until, stuck_since FROM jobs;
DROP VIEW v_requests;
DROP TABLE jobs;
ALTER TABLE jobs_with_runs RENAME TO jobs;

CREATE INDEX jobs_by_due ON jobs (due_at) WHERE leased_until IS NULL;
CREATE INDEX jobs_of_partner ON jobs (partner_id, due_at, leased_until);
CREATE INDEX jobs_stuck ON jobs (stuck_since) WHERE stuck_since IS NOT NULL;
CREATE INDEX jobs_by_lease ON jobs (leased_until) WHERE leased_until IS NOT NULL;

-- Orders and card batches with their jobs. A request that has ended has no job.
CREATE VIEW v_requests AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(r.partner_id), 1, 8), substr(hex(r.partner_id), 9, 4), substr(hex(r.partner_id), 13, 4),
        substr(hex(r.partner_id), 17, 4), substr(hex(r.partner_id), 21)
    )) AS partner_id,
    r.kind,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(r.id), 1, 8), substr(hex(r.id), 9, 4), substr(hex(r.id), 13, 4),
        substr(hex(r.id), 17, 4), substr(hex(r.id), 21)
    )) AS request_id,
    r.state,
    r.cards,
    r.amount AS amount_kopecks,
    format('%.2f', r.amount / 100.0) AS amount_roubles,
    datetime(r.state_since / 1000000, 'unixepoch') AS state_since,
    datetime(r.created_at / 1000000, 'unixepoch') AS created_at,
    datetime(j.due_at / 1000000, 'unixepoch') AS due_at,
    datetime(j.leased_until / 1000000, 'unixepoch') AS leased_until,
    j.attempt AS attempts,
    j.failures,
    datetime(j.stuck_since / 1000000, 'unixepoch') AS stuck_since,
    r.returned AS returned_kopecks,
    format('%.2f', r.returned / 100.0) AS returned_roubles,
    r.reference
FROM (
    SELECT partner_id, 'ORDER' AS kind, id, state, cards, cost AS amount, state_since, created_at, 0 AS returned, reference
    FROM orders
    UNION ALL
    SELECT partner_id, kind, id, state, cards, amount, state_since, created_at, returned, reference FROM card_batches
) r
JOIN partners p ON p.id = r.partner_id
LEFT JOIN jobs j ON j.partner_id = r.partner_id AND j.subject_kind = r.kind AND j.subject_id = r.id;
