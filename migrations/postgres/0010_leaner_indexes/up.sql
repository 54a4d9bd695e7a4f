-- Nobody asks for those without a category, and a new employee most often has none.
DROP INDEX employees_of_category;
CREATE INDEX employees_of_category ON employees (partner_id, category_id, seq) WHERE category_id IS NOT NULL;
