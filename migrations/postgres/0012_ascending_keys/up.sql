-- Identifiers ascend with time, and so do most keys of calls. With them in front, the new ones of all partners are entered
-- at one place of the index instead of at one of each partner; they are found by both columns all the same.
ALTER TABLE cards DROP CONSTRAINT cards_partner_id_employee_id_fkey;
ALTER TABLE employees DROP CONSTRAINT employees_pkey;
ALTER TABLE employees ADD PRIMARY KEY (id, partner_id);
ALTER TABLE cards ADD FOREIGN KEY (partner_id, employee_id) REFERENCES employees (partner_id, id);

ALTER TABLE recorded_answers DROP CONSTRAINT recorded_answers_pkey;
ALTER TABLE recorded_answers ADD PRIMARY KEY (key, partner_id);

-- With the identifier all that is told of an employee's cards is in the index: the table need not be looked at, unless the
-- card has changed since the table was last vacuumed.
DROP INDEX cards_of_employee;
CREATE INDEX cards_of_employee ON cards (partner_id, employee_id, seq, link_status, id) WHERE employee_id IS NOT NULL;
