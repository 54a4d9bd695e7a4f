-- 100,000 cards topped up: the rows of ten requests in one statement, and the two updates that every card of a request
-- goes through: decided, and free for other requests. What else the service writes (the ledger, the copy of what the bank
-- said, its work) is not here. Each step is committed by itself, so that the next one finds the room that it leaves.
BEGIN;
INSERT INTO card_batches (partner_id, id, kind, seq, cards, amount, state, created_at, state_since)
    SELECT partner_id, encode(convert_to((7000000000000000 + i)::text, 'UTF8'), 'hex')::uuid, 'REPLENISHMENT', last + i, 10000, 1000000, 'NEW', to_timestamp(1), to_timestamp(1)
    FROM counters, generate_series(1, 10) i
    WHERE partner_id = encode(convert_to('1000000000000103', 'UTF8'), 'hex')::uuid AND list = 'replenishments';
INSERT INTO card_batch_items (partner_id, batch_id, ordinal, kind, card_id, number, amount, state, refusal, claimed, sent)
    SELECT partner_id, encode(convert_to((7000000000000001 + (seq - 1) / 10000)::text, 'UTF8'), 'hex')::uuid, (seq - 1) % 10000, 'REPLENISHMENT', id, number, 100,
        'OPEN', NULL, TRUE, FALSE
    FROM cards WHERE partner_id = encode(convert_to('1000000000000103', 'UTF8'), 'hex')::uuid AND seq <= 100000;
COMMIT;
BEGIN;
UPDATE card_batch_items SET state = 'DONE'
    WHERE partner_id = encode(convert_to('1000000000000103', 'UTF8'), 'hex')::uuid
        AND batch_id BETWEEN encode(convert_to('7000000000000001', 'UTF8'), 'hex')::uuid AND encode(convert_to('7000000000000010', 'UTF8'), 'hex')::uuid;
COMMIT;
BEGIN;
UPDATE card_batch_items SET claimed = FALSE
    WHERE partner_id = encode(convert_to('1000000000000103', 'UTF8'), 'hex')::uuid
        AND batch_id BETWEEN encode(convert_to('7000000000000001', 'UTF8'), 'hex')::uuid AND encode(convert_to('7000000000000010', 'UTF8'), 'hex')::uuid;
COMMIT;
