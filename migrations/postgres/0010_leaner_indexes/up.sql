-- Nobody asks for those without a category, and a new employee most often has none.
DROP INDEX employees_of_category;
CREATE INDEX employees_of_category ON employees (partner_id, category_id, seq) WHERE category_id IS NOT NULL;

-- With the status of the link all that an employee's cards are listed by is in the index. What gains from it is SQLite, which
-- would look up the table by another key for each card; the two databases have the same indexes.
DROP INDEX cards_of_employee;
CREATE INDEX cards_of_employee ON cards (partner_id, employee_id, seq, link_status) WHERE employee_id IS NOT NULL;
