CREATE TABLE replenishments (
    partner_id  BLOB    NOT NULL REFERENCES partners (id),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    seq         INTEGER NOT NULL CHECK (seq > 0),
    cards       INTEGER NOT NULL CHECK (cards > 0),
    amount      INTEGER NOT NULL CHECK (amount > 0),
    state       TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED')),
    created_at  INTEGER NOT NULL,
    state_since INTEGER NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE replenishment_items (
    partner_id       BLOB    NOT NULL,
    replenishment_id BLOB    NOT NULL,
    ordinal          INTEGER NOT NULL CHECK (ordinal >= 0),
    card_id          BLOB    NOT NULL,
    number           INTEGER NOT NULL,
    amount           INTEGER NOT NULL CHECK (amount > 0),
    state            TEXT    NOT NULL CHECK (state IN ('OPEN', 'DONE', 'REFUSED')),
    refusal          TEXT    CHECK (refusal IN (
        'NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED', 'EXPIRED', 'NOT_ACTIVATED', 'REFUSED_BY_BANK'
    )),
    -- Whether the request keeps the card from other requests.
    claimed          INTEGER NOT NULL CHECK (claimed IN (0, 1)),
    -- Whether it may have been sent to a bank that does twice what it is sent twice.
    sent             INTEGER NOT NULL CHECK (sent IN (0, 1)),
    PRIMARY KEY (partner_id, replenishment_id, ordinal),
    FOREIGN KEY (partner_id, replenishment_id) REFERENCES replenishments (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    CONSTRAINT replenishment_items_refusal_has_reason CHECK ((state = 'REFUSED') = (refusal IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- A card is in one open request at most.
CREATE UNIQUE INDEX replenishment_items_claim ON replenishment_items (partner_id, card_id) WHERE claimed;
