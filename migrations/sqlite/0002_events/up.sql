-- Events: one feed a partner.

-- `seq` numbers a partner's events without gaps: it comes from `counters`, which refers to the partner, so the events need not.
-- `data` is JSON; it holds no personal data.
CREATE TABLE events (
    partner_id BLOB    NOT NULL,
    seq        INTEGER NOT NULL CHECK (seq > 0),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    kind       TEXT    NOT NULL,
    data       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (partner_id, seq)
) STRICT, WITHOUT ROWID;

-- A feed of some types alone.
CREATE INDEX events_by_kind ON events (partner_id, kind, seq);

-- The number of a partner's last event, and that of the last one deleted. SQLite changes a constraint with its table.
CREATE TABLE counters_with_events (
    partner_id BLOB    NOT NULL REFERENCES partners (id),
    list       TEXT    NOT NULL CHECK (list IN (
        'categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes', 'events', 'expired_events'
    )),
    last       INTEGER NOT NULL CHECK (last >= 0),
    PRIMARY KEY (partner_id, list)
) STRICT, WITHOUT ROWID;
INSERT INTO counters_with_events SELECT partner_id, list, last FROM counters;
INSERT INTO counters_with_events
SELECT partners.id, lists.value, 0 FROM partners, json_each('["events", "expired_events"]') AS lists;
DROP TABLE counters;
ALTER TABLE counters_with_events RENAME TO counters;
