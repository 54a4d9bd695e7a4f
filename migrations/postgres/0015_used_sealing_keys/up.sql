-- When a partner first sealed a request with a key. Until then the service seals under the key before it. The keys of before
-- count as used, so that responses stay under the key that they are under.
ALTER TABLE sealing_keys ADD COLUMN first_used_at TIMESTAMPTZ;
UPDATE sealing_keys SET first_used_at = created_at;
