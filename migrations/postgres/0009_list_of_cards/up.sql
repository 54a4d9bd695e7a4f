-- A page of all cards is a range of their numbers.
CREATE UNIQUE INDEX cards_by_seq ON cards (partner_id, seq);
