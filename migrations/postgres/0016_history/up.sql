-- That commits were found missing, and that an operator has accepted it. The last row counts: see ADR 52.
CREATE TABLE history_notices (
    number   BIGINT      NOT NULL PRIMARY KEY CHECK (number > 0),
    noted_at TIMESTAMPTZ NOT NULL,
    kind     TEXT        NOT NULL CHECK (kind IN ('REWOUND', 'ACCEPTED')),
    -- What is missing.
    detail   TEXT        NOT NULL
);
