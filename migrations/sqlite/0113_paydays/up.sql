-- Large batches, and partners with many runs, are not walked through again and again.

-- An ordinal before which every card of the batch is decided.
ALTER TABLE card_batches ADD COLUMN first_open INTEGER NOT NULL DEFAULT 0 CHECK (first_open >= 0 AND first_open <= cards);

-- SQLite takes the primary key unless an index has more to look for.
DROP INDEX runs_of_programmes_open;
CREATE INDEX runs_of_programmes_open ON runs (partner_id, state_since) WHERE programme_id IS NOT NULL AND state = 'IN_PROCESS';
CREATE INDEX runs_of_partner_by_retry ON runs (partner_id, retry_at, seq) WHERE retry_at IS NOT NULL;
CREATE INDEX runs_of_programme ON runs (partner_id, programme_id, seq) WHERE programme_id IS NOT NULL;
