-- POST /v1/replenishment of ten cards: what one call asks of the database by itself, in one transaction; see add.sql.
-- Transaction n of a client takes ten cards of partner (client + n) mod partners, which no other transaction takes.
\set n :n + 1
\set number 1 + (:client_id + :n) % :partners
\set partner 1000000000000000 + :number
\set id :run + :client_id * 1000000 + :n
\set key :lock # :number
\set chain :run + :client_id
\set first (:client_id * :blocks + :n / :partners) * 10 + 1
\set c0 2000000000000000 + :first + 0
\set c1 2000000000000000 + :first + 1
\set c2 2000000000000000 + :first + 2
\set c3 2000000000000000 + :first + 3
\set c4 2000000000000000 + :first + 4
\set c5 2000000000000000 + :first + 5
\set c6 2000000000000000 + :first + 6
\set c7 2000000000000000 + :first + 7
\set c8 2000000000000000 + :first + 8
\set c9 2000000000000000 + :first + 9
BEGIN;
-- adapter-store-diesel, locks: the partner's lock.
SELECT pg_advisory_xact_lock(:key);
-- IdempotencyRepository::find
SELECT partner_id, key, fingerprint, status, body, recorded_at FROM recorded_responses WHERE partner_id = encode(:partner, 'hex')::uuid AND key = :id;
-- SealedNonceRepository::find
SELECT partner_id, nonce, idempotency_key, spent_at FROM sealed_nonces WHERE partner_id = encode(:partner, 'hex')::uuid AND nonce = :id;
-- CardBatchRepository::targets, in a form that the planner does not answer by reading all claimed cards
SELECT c.id, c.number, c.link_status, c.standing, c.valid_until, CAST(COALESCE((SELECT SUM(CASE WHEN i.kind = 'LIMIT_CHANGE' THEN 1 WHEN i.is_urgent THEN 4 ELSE 2 END) FROM card_batch_items i WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.claimed), 0) AS BIGINT) AS lanes FROM unnest(ARRAY[:c0, :c1, :c2, :c3, :c4, :c5, :c6, :c7, :c8, :c9]::bytea[]) AS wanted (id) JOIN cards c ON c.partner_id = encode(:partner, 'hex')::uuid AND c.id = encode(wanted.id, 'hex')::uuid;
-- CardBatchRepository::insert: the number, the batch, the counter, the items
SELECT last FROM counters WHERE partner_id = encode(:partner, 'hex')::uuid AND list = 'replenishments' \gset
\set seq :last + 1
INSERT INTO card_batches (partner_id, id, kind, seq, cards, amount, state, created_at, state_since) VALUES (encode(:partner, 'hex')::uuid, encode(:id, 'hex')::uuid, 'REPLENISHMENT', :seq, 10, 1000, 'NEW', to_timestamp(1795263748.401263), to_timestamp(1795263748.401263));
UPDATE counters SET last = :seq WHERE partner_id = encode(:partner, 'hex')::uuid AND list = 'replenishments';
INSERT INTO card_batch_items (partner_id, batch_id, ordinal, kind, card_id, number, amount, state, refusal, claimed, sent) SELECT encode(:partner, 'hex')::uuid, encode(:id, 'hex')::uuid, ordinal - 1, 'REPLENISHMENT', encode(card_id, 'hex')::uuid, 1000000000 + :first + ordinal, 100, 'OPEN', NULL, TRUE, FALSE FROM unnest(ARRAY[:c0, :c1, :c2, :c3, :c4, :c5, :c6, :c7, :c8, :c9]::bytea[]) WITH ORDINALITY AS item (card_id, ordinal);
-- WorkRepository::enqueue: due by the server's time
INSERT INTO jobs (partner_id, subject_kind, subject_id, due_at, attempt, failures, may_have_sent) VALUES (encode(:partner, 'hex')::uuid, 'REPLENISHMENT', encode(:id, 'hex')::uuid, clock_timestamp() + interval '10 minutes', 0, 0, FALSE);
-- IdempotencyRepository::record, with an answer of the real length
INSERT INTO recorded_responses (partner_id, key, fingerprint, status, body, recorded_at) VALUES (encode(:partner, 'hex')::uuid, :id, '\x9e323d9caa42bdbdeb7c5adca23b696b370b46fbc4be0a8443687b2d99ebf864', 202, '\x7b226d657373616765223a22746865207265717565737420697320616363657074656420616e642061776169747320657865637574696f6e222c227265706c656e6973686d656e744964223a2230316131666530652d643933322d373435622d396437362d353762303532346636643235227d', to_timestamp(1795263748.408656)) ON CONFLICT (partner_id, key) DO NOTHING;
-- SealedNonceRepository::spend
INSERT INTO sealed_nonces (partner_id, nonce, idempotency_key, spent_at) VALUES (encode(:partner, 'hex')::uuid, :id, :id, to_timestamp(1795263713.230527)) ON CONFLICT (partner_id, nonce) DO NOTHING;
-- AuditRepository::append: the entry, in a chain of the connection's own
INSERT INTO audit_entries (chain, number, hash, at, actor, credential, operator, partner, source, action, subject, request_id, key_digest, sealed, outcome, status, code) VALUES (:chain, :n, '\x542cc9295046a214f36165242ec921762ba712f821483be0d93add474d38e973', to_timestamp(1795263713.230527), 'PARTNER', '01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3e', NULL, encode(:partner, 'hex')::uuid, '127.0.0.1', 'replenishment', '01a1fe0d-d932-745b-9d76-57b0524f6d25', '01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3f', '\x9e323d9caa42bdbdeb7c5adca23b696b', TRUE, 'DONE', 202, NULL);
COMMIT;
