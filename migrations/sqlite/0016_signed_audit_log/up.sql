-- Beside each hash a keyed one: 8 bytes that name the key, then HMAC-SHA256. Entries of before have none.
ALTER TABLE audit_entries ADD COLUMN signature BLOB CHECK (length(signature) = 40);

-- Whether operators' commands write to the chain, one after the other. The last such chain is in use.
ALTER TABLE audit_chains ADD COLUMN commands INTEGER NOT NULL DEFAULT 0 CHECK (commands IN (0, 1));

-- Signed statements about chains: where one begins after it was pruned, and how far it goes at least.
CREATE TABLE audit_marks (
    chain     INTEGER NOT NULL CHECK (chain > 0),
    kind      TEXT    NOT NULL CHECK (kind IN ('BEGINNING', 'CHECKPOINT')),
    number    INTEGER NOT NULL CHECK (number > 0),
    hash      BLOB    NOT NULL CHECK (length(hash) = 32),
    signature BLOB    NOT NULL CHECK (length(signature) = 40),
    PRIMARY KEY (chain, kind)
) STRICT, WITHOUT ROWID;

-- Entries may be deleted up to the mark that says where their chain begins, and no others.
DROP TRIGGER audit_entries_no_delete;
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
WHEN NOT EXISTS (
    SELECT 1 FROM audit_marks WHERE chain = OLD.chain AND kind = 'BEGINNING' AND number >= OLD.number
)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- A mark moves on, and never back. The third refuses `INSERT OR REPLACE`, which removes without saying so.
CREATE TRIGGER audit_marks_no_way_back BEFORE UPDATE ON audit_marks
WHEN NEW.chain <> OLD.chain OR NEW.kind <> OLD.kind OR NEW.number < OLD.number
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_marks_no_delete BEFORE DELETE ON audit_marks
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_marks_no_replace BEFORE INSERT ON audit_marks
WHEN EXISTS (SELECT 1 FROM audit_marks WHERE chain = NEW.chain AND kind = NEW.kind AND number > NEW.number)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
