-- POST /v1/employee/add: what one call asks of the database by itself, in one transaction. The savepoint that lets the
-- service go on after a refused insert is left out, since this transaction ends with one.
\set number random(1, :partners)
\set partner 1000000000000000 + :number
\set n :n + 1
\set id :run + :client_id * 1000000 + :n
\set key :lock # :number
\set chain :run + :client_id
BEGIN;
-- adapter-store-diesel, locks: the partner's lock.
SELECT pg_advisory_xact_lock(:key);
-- IdempotencyRepository::find
SELECT partner_id, key, fingerprint, status, body, recorded_at FROM recorded_responses WHERE partner_id = encode(:partner, 'hex')::uuid AND key = :id;
-- SealedNonceRepository::find
SELECT partner_id, nonce, idempotency_key, spent_at FROM sealed_nonces WHERE partner_id = encode(:partner, 'hex')::uuid AND nonce = :id;
-- EmployeeRepository::id_by_custom_id
SELECT id FROM employees WHERE partner_id = encode(:partner, 'hex')::uuid AND custom_id = :id;
-- EmployeeRepository::insert: the number, the row, the counter
SELECT last FROM counters WHERE partner_id = encode(:partner, 'hex')::uuid AND list = 'employees' \gset
\set seq :last + 1
INSERT INTO employees (partner_id, id, seq, custom_id, surname, name, patronymic, phone, email, category_id, status, status_updated_at, search_text, created_at) VALUES (encode(:partner, 'hex')::uuid, encode(:id, 'hex')::uuid, :seq, :id, 'Ёжиков', 'Иван', NULL, '\x0200000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000', NULL, NULL, 'WORK', to_timestamp(1795263713.229227), 'ёжиков иван 4000000000000001', to_timestamp(1795263713.229227));
UPDATE counters SET last = :seq WHERE partner_id = encode(:partner, 'hex')::uuid AND list = 'employees';
-- IdempotencyRepository::record, with an answer of the real length
INSERT INTO recorded_responses (partner_id, key, fingerprint, status, body, recorded_at) VALUES (encode(:partner, 'hex')::uuid, :id, '\x542cc9295046a214f36165242ec921762ba712f821483be0d93add474d38e973', 200, '\x7b226964456d706c6f796565223a2230316131666530652d346663642d373361322d623735622d613766663263653462336533222c22637573746f6d4964223a2234303030303030303030303030303031222c227375726e616d65223a22d081d0b6d0b8d0bad0bed0b2222c226e616d65223a22d098d0b2d0b0d0bd222c22706174726f6e796d6963223a6e756c6c2c2270686f6e65223a2239303331323334353637222c22656d61696c223a6e756c6c2c22696443617465676f7279223a6e756c6c2c22737461747573223a22574f524b222c22637265617465644174223a2232312e31312e32303236222c22737461747573557064617465644174223a2232312e31312e32303236227d', to_timestamp(1795263713.230527)) ON CONFLICT (partner_id, key) DO NOTHING;
-- SealedNonceRepository::spend
INSERT INTO sealed_nonces (partner_id, nonce, idempotency_key, spent_at) VALUES (encode(:partner, 'hex')::uuid, :id, :id, to_timestamp(1795263713.230527)) ON CONFLICT (partner_id, nonce) DO NOTHING;
-- AuditRepository::append: the entry, in a chain of the connection's own
INSERT INTO audit_entries (chain, number, hash, at, actor, credential, operator, partner, source, action, subject, request_id, key_digest, sealed, outcome, status, code) VALUES (:chain, :n, '\x542cc9295046a214f36165242ec921762ba712f821483be0d93add474d38e973', to_timestamp(1795263713.230527), 'PARTNER', '01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3e', NULL, encode(:partner, 'hex')::uuid, '127.0.0.1', 'employee/add', '01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3e', '01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3f', '\x9e323d9caa42bdbdeb7c5adca23b696b', TRUE, 'DONE', 200, NULL);
COMMIT;
