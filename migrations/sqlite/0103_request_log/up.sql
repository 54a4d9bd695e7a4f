-- What a partner sees of itself: when and from where each of its sessions was last used, and its requests.

ALTER TABLE sessions ADD COLUMN last_used_at INTEGER;
ALTER TABLE sessions ADD COLUMN address TEXT;

-- The requests of the last 14 days. `seq` is the time of writing in microseconds since 1970-01-01 UTC, or the next free
-- number after the partner's last one; writers take turns, so a row that becomes visible later has a greater one. `fields`
-- are the names of faulty fields with commas between them.
CREATE TABLE request_log (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    seq         INTEGER NOT NULL CHECK (seq > 0),
    at          INTEGER NOT NULL,
    request_id  TEXT    NOT NULL,
    operation   TEXT    NOT NULL,
    status      INTEGER NOT NULL CHECK (status BETWEEN 100 AND 599),
    code        TEXT,
    fields      TEXT    NOT NULL,
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    -- The scoped credential of the request; NULL for the partner's own login.
    credential  BLOB    CHECK (length(credential) = 16),
    address     TEXT,
    replayed    INTEGER NOT NULL CHECK (replayed IN (0, 1)),
    PRIMARY KEY (partner_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_log_by_request ON request_log (partner_id, request_id, seq);
-- Retention.
CREATE INDEX request_log_by_age ON request_log (seq);
