-- POST /v1/employee/add on SQLite: the rows that one request leaves, of the service's lengths. Each number inserted into
-- `adds` is one request, and the statements of the trigger are compiled once.
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -8192;
PRAGMA wal_autocheckpoint = 16000;
CREATE TEMP VIEW adds (i, partner, id, at) AS SELECT 0, x'', x'', 0;
CREATE TEMP TRIGGER add_employee INSTEAD OF INSERT ON adds BEGIN
    UPDATE counters SET last = last + 1 WHERE partner_id = new.partner AND list = 'employees';
    INSERT INTO employees (partner_id, id, seq, custom_id, surname, name, phone, status, status_updated_at, search_text, created_at)
        SELECT new.partner, new.id, last, 'limit-' || new.i, 'Ёжиков', 'Иван', zeroblob(58), 'WORK', new.at,
            'ёжиков иван limit-' || new.i, new.at
        FROM counters WHERE partner_id = new.partner AND list = 'employees';
    UPDATE counters SET last = last + 1 WHERE partner_id = new.partner AND list = 'events';
    INSERT INTO events (partner_id, seq, id, kind, data, created_at, employee_id)
        SELECT new.partner, last, new.id, 'employee.created',
            '{"type":"employee.created","employee":"01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3f","customId":"limit-' || new.i || '"}',
            new.at, new.id
        FROM counters WHERE partner_id = new.partner AND list = 'events';
    INSERT INTO recorded_responses (partner_id, key, fingerprint, status, body, recorded_at, employee_id)
        VALUES (new.partner, printf('%032d', new.i), zeroblob(32), 200, zeroblob(330), new.at, new.id);
    INSERT INTO sealed_nonces (partner_id, nonce, idempotency_key, spent_at)
        VALUES (new.partner, lower(hex(randomblob(16))), printf('%032d', new.i), new.at);
    INSERT INTO audit_entries (chain, number, hash, at, actor, credential, partner, source, action, subject, request_id,
            key_digest, sealed, outcome, status, signature)
        VALUES (1000000000, new.i, randomblob(32), new.at, 'PARTNER', new.id, new.partner, '127.0.0.1', 'employee/add',
            '01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3f', '01a1fe0d-4fcd-73a2-b75b-a7f2ce4b3e3f', randomblob(16), TRUE, 'DONE', 200,
            zeroblob(40));
END;
