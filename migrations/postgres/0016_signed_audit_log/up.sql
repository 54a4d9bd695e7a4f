-- Beside each hash a keyed one: 8 bytes that name the key, then HMAC-SHA256. Entries of before have none.
ALTER TABLE audit_entries ADD COLUMN signature BYTEA CHECK (length(signature) = 40);

-- Whether operators' commands write to the chain, one after the other. The last such chain is in use.
ALTER TABLE audit_chains ADD COLUMN commands BOOLEAN NOT NULL DEFAULT FALSE;

-- Signed statements about chains: where one begins after it was pruned, and how far it goes at least.
CREATE TABLE audit_marks (
    chain     BIGINT NOT NULL CHECK (chain > 0),
    kind      TEXT   NOT NULL CHECK (kind IN ('BEGINNING', 'CHECKPOINT')),
    number    BIGINT NOT NULL CHECK (number > 0),
    hash      BYTEA  NOT NULL CHECK (length(hash) = 32),
    signature BYTEA  NOT NULL CHECK (length(signature) = 40),
    PRIMARY KEY (chain, kind)
);

-- Entries may be deleted up to the mark that says where their chain begins, and no others.
CREATE FUNCTION audit_is_pruned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM audit_marks WHERE chain = OLD.chain AND kind = 'BEGINNING' AND number >= OLD.number
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

DROP TRIGGER audit_entries_append_only ON audit_entries;
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR TRUNCATE ON audit_entries
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_append_only;

CREATE TRIGGER audit_entries_pruned BEFORE DELETE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION audit_is_pruned();
ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_pruned;

-- A mark moves on, and never back.
CREATE FUNCTION audit_mark_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.chain <> OLD.chain OR NEW.kind <> OLD.kind OR NEW.number < OLD.number THEN
        RAISE EXCEPTION 'the audit log is append-only';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_marks_move_on BEFORE UPDATE ON audit_marks
FOR EACH ROW EXECUTE FUNCTION audit_mark_moves_on();
ALTER TABLE audit_marks ENABLE ALWAYS TRIGGER audit_marks_move_on;

CREATE TRIGGER audit_marks_append_only BEFORE DELETE OR TRUNCATE ON audit_marks
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
ALTER TABLE audit_marks ENABLE ALWAYS TRIGGER audit_marks_append_only;
