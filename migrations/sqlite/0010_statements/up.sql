-- What partners call their requests, and a record of what moved.

ALTER TABLE orders ADD COLUMN reference TEXT CHECK (reference <> '');
CREATE INDEX orders_by_reference ON orders (partner_id, reference, seq) WHERE reference IS NOT NULL;
ALTER TABLE card_batches ADD COLUMN reference TEXT CHECK (reference <> '');
CREATE INDEX card_batches_by_reference ON card_batches (partner_id, kind, reference, seq) WHERE reference IS NOT NULL;
