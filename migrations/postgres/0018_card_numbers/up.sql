-- A number belongs to one card, of whatever partner: the bank is asked about a card by its number alone. An order for which
-- the bank issues a number that is taken waits for a person.
CREATE UNIQUE INDEX cards_number ON cards (number);
