-- Nothing to do: PostgreSQL compares with the words one by one. This is for SQLite.
SELECT 1;
