//! Jobs that are due. PostgreSQL finds those of all partners with one statement, and passes over what another worker takes.

use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;

use crate::connection::AnyConnection;
use crate::schema::jobs;
use crate::sql_types::{Id, UtcTimestamp, sql};
use crate::statements::{self, RawStatement, binds};

/// A job as its table has it, before a claim takes it.
#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = jobs)]
pub(crate) struct JobRow {
    pub(crate) partner_id: Id,
    pub(crate) subject_kind: String,
    pub(crate) subject_id: Id,
    pub(crate) attempt: i64,
    pub(crate) failures: i64,
    pub(crate) may_have_sent: bool,
    pub(crate) due_at: UtcTimestamp,
}

/// Walks from partner to partner by one look into the index each, so that one with a great deal of work costs no more
/// than another.
const DUE: &str = "
    WITH RECURSIVE partners (id) AS (
        (SELECT partner_id FROM jobs ORDER BY partner_id LIMIT 1)
        UNION ALL
        SELECT (SELECT w.partner_id FROM jobs w WHERE w.partner_id > p.id ORDER BY w.partner_id LIMIT 1)
        FROM partners p WHERE p.id IS NOT NULL
    )
    SELECT due.*
    FROM partners p CROSS JOIN LATERAL (
        SELECT own.*, row_number() OVER (ORDER BY own.due_at) AS turn
        FROM (
            SELECT w.partner_id, w.subject_kind, w.subject_id, w.attempt, w.failures, w.may_have_sent, w.due_at
            FROM jobs w
            WHERE w.partner_id = p.id AND w.due_at <= ? AND (w.leased_until IS NULL OR w.leased_until <= ?)
            ORDER BY w.due_at LIMIT ?
        ) own
    ) due
    ORDER BY due.turn, due.due_at LIMIT ?";

/// Work that is due at `now` and not under a lease, the partners taking turns.
pub(crate) fn due(connection: &mut AnyConnection, now: UtcTimestamp, limit: u32) -> QueryResult<Vec<JobRow>> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            let mut due: Vec<(usize, JobRow)> = Vec::new();
            let mut partner = next_partner_with_work(sqlite, Id::default())?;
            while let Some(id) = partner {
                let own = jobs::table
                    .filter(jobs::partner_id.eq(id))
                    .filter(jobs::due_at.le(now))
                    .filter(jobs::leased_until.is_null().or(jobs::leased_until.le(now)))
                    .order(jobs::due_at)
                    .limit(i64::from(limit))
                    .select(JobRow::as_select())
                    .load(sqlite)?;
                due.extend(own.into_iter().enumerate());
                partner = next_partner_with_work(sqlite, id)?;
            }
            due.sort_by_key(|(turn, row)| (*turn, row.due_at));
            due.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok(due.into_iter().map(|(_, row)| row).collect())
        }
        AnyConnection::Postgres(pg) => {
            let limit = i64::from(limit);
            let values = binds![now, now, limit, limit];
            RawStatement::new(DUE, values).load(pg)
        }
    }
}

const TAKE: &str = "
    SELECT w.partner_id, w.subject_kind, w.subject_id, w.attempt, w.failures, w.may_have_sent, w.due_at
    FROM unnest(?, ?, ?) WITH ORDINALITY AS wanted (partner_id, subject_kind, subject_id, place)
    JOIN jobs w USING (partner_id, subject_kind, subject_id)
    WHERE w.due_at <= ? AND (w.leased_until IS NULL OR w.leased_until <= ?)
    ORDER BY wanted.place
    FOR UPDATE OF w SKIP LOCKED";

/// Those of `rows` that are still due and that no other worker is taking, in their order, for this transaction to take.
/// On SQLite a writing transaction is alone anyway.
pub(crate) fn take(
    connection: &mut AnyConnection,
    now: UtcTimestamp,
    rows: Vec<JobRow>,
) -> QueryResult<Vec<JobRow>> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(rows),
        AnyConnection::Postgres(_) if rows.is_empty() => Ok(rows),
        AnyConnection::Postgres(pg) => {
            let keys = rows.iter().map(|row| binds![row.partner_id, &row.subject_kind, row.subject_id]);
            let mut values = statements::columns(keys);
            values.extend(binds![now, now]);
            RawStatement::new(TAKE, values).load(pg)
        }
    }
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// `MIN` of identifiers, which diesel's own does not take.
    #[aggregate]
    #[sql_name = "MIN"]
    fn least_id(id: sql::Id) -> Nullable<sql::Id>;
}

/// The partner after `id` that has work, due or not: one look into the primary key.
fn next_partner_with_work(sqlite: &mut SqliteConnection, id: Id) -> QueryResult<Option<Id>> {
    jobs::table.filter(jobs::partner_id.gt(id)).select(least_id(jobs::partner_id)).get_result(sqlite)
}
