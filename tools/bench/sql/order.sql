-- A virtual order of 100,000 cards: the rows of its cards in one statement. Their partner is the one that ordered them.
BEGIN;
INSERT INTO orders (partner_id, id, seq, kind, card_type, cards, cost, state, created_at, state_since)
    SELECT partner_id, encode(convert_to('7000000000000001', 'UTF8'), 'hex')::uuid, last + 1, 'VIRTUAL', 'MLZ', 100000, 500000000, 'SUCCESS', to_timestamp(1), to_timestamp(1)
    FROM counters WHERE partner_id = encode(convert_to('1000000000000102', 'UTF8'), 'hex')::uuid AND list = 'orders';
INSERT INTO cards (
        partner_id, id, seq, number, kind, order_id, ordinal, valid_until, activation_code, activation_valid_until,
        first_top_up, balance, remaining_top_up, standing, seen_at, account_value, account_updated_at, spending_limit
    )
    SELECT partner_id, encode(convert_to((7000000000000000 + i)::text, 'UTF8'), 'hex')::uuid, last + i, 9000000000 + i, 'MLZ',
        encode(convert_to('7000000000000001', 'UTF8'), 'hex')::uuid, i - 1, DATE '2132-09-01', '123456', DATE '2132-09-01', 5000, 5000, 1495000, 'OPEN', to_timestamp(1), 0, to_timestamp(1),
        'UNLIMITED'
    FROM counters, generate_series(1, 100000) i
    WHERE partner_id = encode(convert_to('1000000000000102', 'UTF8'), 'hex')::uuid AND list = 'cards';
COMMIT;
