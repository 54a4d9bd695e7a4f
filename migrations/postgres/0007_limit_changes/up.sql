CREATE TABLE limit_changes (
    partner_id     BYTEA   NOT NULL REFERENCES partners (id),
    id             BYTEA   NOT NULL CHECK (length(id) = 16),
    seq            BIGINT  NOT NULL CHECK (seq > 0),
    cards          BIGINT  NOT NULL CHECK (cards > 0),
    -- What each of the cards is to have; in the form of `cards.spending_limit`.
    spending_limit TEXT    NOT NULL CHECK (spending_limit <> ''),
    state          TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED')),
    created_at     BIGINT  NOT NULL,
    state_since    BIGINT  NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq)
);

-- Half of each page stays free for the same reason as with `replenishment_items`.
CREATE TABLE limit_change_items (
    partner_id      BYTEA   NOT NULL,
    limit_change_id BYTEA   NOT NULL,
    ordinal         BIGINT  NOT NULL CHECK (ordinal >= 0),
    card_id         BYTEA   NOT NULL,
    number          BIGINT  NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('OPEN', 'DONE', 'REFUSED')),
    refusal         TEXT    CHECK (refusal IN ('BLOCKED', 'EXPIRED', 'NOT_ACTIVATED', 'REFUSED_BY_BANK')),
    -- Whether the request keeps the card from other limit changes. Replenishments have claims of their own.
    claimed         BOOLEAN NOT NULL,
    -- Whether it may have been sent to a bank that does twice what it is sent twice.
    sent            BOOLEAN NOT NULL,
    PRIMARY KEY (partner_id, limit_change_id, ordinal),
    FOREIGN KEY (partner_id, limit_change_id) REFERENCES limit_changes (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    CONSTRAINT limit_change_items_refusal_has_reason CHECK ((state = 'REFUSED') = (refusal IS NOT NULL))
) WITH (fillfactor = 50);

-- A card is in one open limit change at most.
CREATE UNIQUE INDEX limit_change_items_claim ON limit_change_items (partner_id, card_id) WHERE claimed;
