CREATE TABLE limit_changes (
    partner_id     BLOB    NOT NULL REFERENCES partners (id),
    id             BLOB    NOT NULL CHECK (length(id) = 16),
    seq            INTEGER NOT NULL CHECK (seq > 0),
    cards          INTEGER NOT NULL CHECK (cards > 0),
    -- What each of the cards is to have; in the form of `cards.spending_limit`.
    spending_limit TEXT    NOT NULL CHECK (spending_limit <> ''),
    state          TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED')),
    created_at     INTEGER NOT NULL,
    state_since    INTEGER NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE limit_change_items (
    partner_id      BLOB    NOT NULL,
    limit_change_id BLOB    NOT NULL,
    ordinal         INTEGER NOT NULL CHECK (ordinal >= 0),
    card_id         BLOB    NOT NULL,
    number          INTEGER NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('OPEN', 'DONE', 'REFUSED')),
    refusal         TEXT    CHECK (refusal IN ('BLOCKED', 'EXPIRED', 'NOT_ACTIVATED', 'REFUSED_BY_BANK')),
    -- Whether the request keeps the card from other limit changes. Replenishments have claims of their own.
    claimed         INTEGER NOT NULL CHECK (claimed IN (0, 1)),
    -- Whether it may have been sent to a bank that does twice what it is sent twice.
    sent            INTEGER NOT NULL CHECK (sent IN (0, 1)),
    PRIMARY KEY (partner_id, limit_change_id, ordinal),
    FOREIGN KEY (partner_id, limit_change_id) REFERENCES limit_changes (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    CONSTRAINT limit_change_items_refusal_has_reason CHECK ((state = 'REFUSED') = (refusal IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- A card is in one open limit change at most.
CREATE UNIQUE INDEX limit_change_items_claim ON limit_change_items (partner_id, card_id) WHERE claimed;
