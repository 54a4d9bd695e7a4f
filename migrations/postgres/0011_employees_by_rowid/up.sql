-- Nothing to do: the rows of PostgreSQL's tables always lie apart from their indexes. This is for SQLite.
SELECT 1;
