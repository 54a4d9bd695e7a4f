CREATE TABLE replenishments (
    partner_id  BYTEA   NOT NULL REFERENCES partners (id),
    id          BYTEA   NOT NULL CHECK (length(id) = 16),
    seq         BIGINT  NOT NULL CHECK (seq > 0),
    cards       BIGINT  NOT NULL CHECK (cards > 0),
    amount      BIGINT  NOT NULL CHECK (amount > 0),
    state       TEXT    NOT NULL
        CHECK (state IN ('NEW', 'IN_PROCESS', 'SUCCESS', 'PART_SUCCESS', 'DECLINE', 'REJECTED')),
    created_at  BIGINT  NOT NULL,
    state_since BIGINT  NOT NULL,
    PRIMARY KEY (partner_id, id),
    UNIQUE (partner_id, seq)
);

-- Each row changes twice after its insertion, together with all others of its page: half of the page stays free, so that
-- a decision finds room beside its row and touches no index.
CREATE TABLE replenishment_items (
    partner_id       BYTEA   NOT NULL,
    replenishment_id BYTEA   NOT NULL,
    ordinal          BIGINT  NOT NULL CHECK (ordinal >= 0),
    card_id          BYTEA   NOT NULL,
    number           BIGINT  NOT NULL,
    amount           BIGINT  NOT NULL CHECK (amount > 0),
    state            TEXT    NOT NULL CHECK (state IN ('OPEN', 'DONE', 'REFUSED')),
    refusal          TEXT    CHECK (refusal IN (
        'NOT_ENOUGH_BALANCE', 'OVER_CARD_LIMIT', 'BLOCKED', 'EXPIRED', 'NOT_ACTIVATED', 'REFUSED_BY_BANK'
    )),
    -- Whether the request keeps the card from other requests.
    claimed          BOOLEAN NOT NULL,
    -- Whether it may have been sent to a bank that does twice what it is sent twice.
    sent             BOOLEAN NOT NULL,
    PRIMARY KEY (partner_id, replenishment_id, ordinal),
    FOREIGN KEY (partner_id, replenishment_id) REFERENCES replenishments (partner_id, id),
    FOREIGN KEY (partner_id, card_id) REFERENCES cards (partner_id, id),
    CONSTRAINT replenishment_items_refusal_has_reason CHECK ((state = 'REFUSED') = (refusal IS NOT NULL))
) WITH (fillfactor = 50);

-- A card is in one open request at most.
CREATE UNIQUE INDEX replenishment_items_claim ON replenishment_items (partner_id, card_id) WHERE claimed;
