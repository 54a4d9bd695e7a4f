-- What a partner sees of itself: when and from where each of its sessions was last used, and its requests.

ALTER TABLE sessions ADD COLUMN last_used_at TIMESTAMPTZ;
ALTER TABLE sessions ADD COLUMN address TEXT;

-- The requests of the last 14 days. `seq` is the time of writing in microseconds since 1970-01-01 UTC, or the next free
-- number after the partner's last one; writers take turns, so a row that becomes visible later has a greater one. `fields`
-- are the names of faulty fields with commas between them.
CREATE TABLE request_log (
    partner_id  UUID        NOT NULL REFERENCES partners (id),
    seq         BIGINT      NOT NULL CHECK (seq > 0),
    at          TIMESTAMPTZ NOT NULL,
    request_id  TEXT        COLLATE "C" NOT NULL,
    operation   TEXT        NOT NULL,
    status      INTEGER     NOT NULL CHECK (status BETWEEN 100 AND 599),
    code        TEXT,
    fields      TEXT        NOT NULL,
    duration_ms BIGINT      NOT NULL CHECK (duration_ms >= 0),
    -- The scoped credential of the request; NULL for the partner's own login.
    credential  UUID,
    address     TEXT,
    replayed    BOOLEAN     NOT NULL,
    PRIMARY KEY (partner_id, seq)
);

CREATE INDEX request_log_by_request ON request_log (partner_id, request_id, seq);
-- Retention.
CREATE INDEX request_log_by_age ON request_log (seq);
