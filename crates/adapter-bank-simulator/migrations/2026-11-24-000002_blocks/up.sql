-- Blocks by instruction, which are apart from `cards.standing`. `change` is the greatest that was seen.
CREATE TABLE blocks (
    card    BIGINT  NOT NULL PRIMARY KEY REFERENCES cards (number),
    blocked BOOLEAN NOT NULL CHECK (blocked IN (0, 1)),
    change  BIGINT  NOT NULL CHECK (change > 0)
);

-- As before, with the new instruction and the verdict of a blocked card.
CREATE TABLE new_instructions (
    id          INTEGER NOT NULL PRIMARY KEY,
    key         TEXT    NOT NULL UNIQUE,
    kind        TEXT    NOT NULL CHECK (kind IN ('ISSUE_CARDS', 'TOP_UP', 'SET_LIMIT', 'SET_BLOCK')),
    fingerprint BLOB    NOT NULL,
    verdict     TEXT    NOT NULL CHECK (verdict IN (
        'DONE', 'OVER_CARD_LIMIT', 'BLOCKED', 'BLOCKED_BY_PARTNER', 'EXPIRED', 'NOT_ACTIVATED', 'REFUSED'
    )),
    -- How many times it had its effect. More than once only if bank faults are injected.
    applied     INTEGER NOT NULL CHECK (applied >= 0),
    CHECK ((verdict = 'DONE') = (applied > 0))
);
INSERT INTO new_instructions SELECT * FROM instructions;
DROP TABLE instructions;
ALTER TABLE new_instructions RENAME TO instructions;

