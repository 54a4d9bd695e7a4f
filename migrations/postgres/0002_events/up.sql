-- Events: one feed a partner.

-- `seq` numbers a partner's events without gaps: it comes from `counters`, which refers to the partner, so the events need not.
-- `data` is JSON; it holds no personal data.
CREATE TABLE events (
    partner_id UUID        NOT NULL,
    seq        BIGINT      NOT NULL CHECK (seq > 0),
    id         UUID        NOT NULL,
    kind       TEXT        COLLATE "C" NOT NULL,
    data       TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (partner_id, seq)
);

-- A feed of some types alone.
CREATE INDEX events_by_kind ON events (partner_id, kind, seq);

-- The number of a partner's last event, and that of the last one deleted.
ALTER TABLE counters DROP CONSTRAINT counters_list_check;
ALTER TABLE counters ADD CONSTRAINT counters_list_check CHECK (list IN (
    'categories', 'employees', 'cards', 'orders', 'replenishments', 'limit_changes', 'events', 'expired_events'
));
INSERT INTO counters (partner_id, list, last)
SELECT id, list, 0 FROM partners, unnest(ARRAY['events', 'expired_events']) AS list;
