-- Employees whose personal data was erased. Such a row has no names, no contacts and no category, and a `custom_id` that no
-- employee can have; its number in the list stays its own.
ALTER TABLE employees ADD COLUMN erased_at INTEGER;
-- What a page of the list has to pass over.
CREATE INDEX employees_erased ON employees (partner_id, seq) WHERE erased_at IS NOT NULL;

-- The employee whose personal data a recorded response holds. An erased response has an empty body.
ALTER TABLE recorded_responses ADD COLUMN employee_id BLOB;
CREATE INDEX recorded_responses_of_employee ON recorded_responses (partner_id, employee_id) WHERE employee_id IS NOT NULL;

-- The employee whose `customId` an event holds.
ALTER TABLE events ADD COLUMN employee_id BLOB;
UPDATE events SET employee_id = unhex(replace(json_extract(data, '$.data.employee'), '-', ''))
WHERE kind IN ('employee.created', 'employee.updated');

DROP VIEW v_employees;
CREATE VIEW v_employees AS
SELECT
    p.name AS partner,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(e.partner_id), 1, 8), substr(hex(e.partner_id), 9, 4), substr(hex(e.partner_id), 13, 4),
        substr(hex(e.partner_id), 17, 4), substr(hex(e.partner_id), 21)
    )) AS partner_id,
    lower(format(
        '%s-%s-%s-%s-%s', substr(hex(e.id), 1, 8), substr(hex(e.id), 9, 4), substr(hex(e.id), 13, 4),
        substr(hex(e.id), 17, 4), substr(hex(e.id), 21)
    )) AS employee_id,
    e.custom_id,
    e.surname,
    e.name,
    e.patronymic,
    g.name AS category,
    e.status,
    (SELECT count(*) FROM cards c WHERE c.partner_id = e.partner_id AND c.employee_id = e.id) AS cards,
    datetime(e.status_updated_at / 1000000, 'unixepoch') AS status_updated_at,
    datetime(e.created_at / 1000000, 'unixepoch') AS created_at
FROM employees e
JOIN partners p ON p.id = e.partner_id
LEFT JOIN categories g ON g.partner_id = e.partner_id AND g.id = e.category_id
WHERE e.erased_at IS NULL;
