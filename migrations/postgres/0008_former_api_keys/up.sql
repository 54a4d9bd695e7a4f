-- The API key before the present one, accepted until a moment, so that a partner can change over at leisure.
ALTER TABLE partners ADD COLUMN former_api_key_hash BYTEA CHECK (length(former_api_key_hash) = 32);
ALTER TABLE partners ADD COLUMN former_api_key_until BIGINT;
CREATE UNIQUE INDEX partners_by_former_api_key ON partners (former_api_key_hash) WHERE former_api_key_hash IS NOT NULL;
