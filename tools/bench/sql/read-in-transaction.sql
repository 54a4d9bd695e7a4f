-- The same as read.sql at one consistent state, as the service reads.
\set partner 1000000000000000 + random(1, :partners)
\set employee 1000000000000000 + random(1, :employees)
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT partner_id, id, seq, custom_id, surname, name, patronymic, phone, email, category_id, status, status_updated_at, search_text, created_at FROM employees WHERE partner_id = encode(:partner, 'hex')::uuid AND id = encode(:employee, 'hex')::uuid;
SELECT id, link_status FROM cards WHERE partner_id = encode(:partner, 'hex')::uuid AND employee_id = encode(:employee, 'hex')::uuid ORDER BY seq;
ROLLBACK;
