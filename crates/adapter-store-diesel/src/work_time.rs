//! The moment by which work is due and leases are over, as part of a statement, so that asking for it costs no round trip
//! of its own.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType};

/// The time of PostgreSQL's server, in Unix microseconds, and a sum to be completed. That of the statement: within one
/// it stands still, so that an index can be searched by it.
const SERVERS_TIME: &str = "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS BIGINT) + ";

/// A moment in Unix microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkTime {
    base: &'static str,
    micros: i64,
}

impl WorkTime {
    /// This many microseconds from now by the clock of PostgreSQL's server.
    pub(crate) fn servers(ahead: i64) -> Self {
        Self { base: SERVERS_TIME, micros: ahead }
    }

    /// This moment.
    pub(crate) fn at(micros: i64) -> Self {
        Self { base: "", micros }
    }
}

impl Expression for WorkTime {
    type SqlType = BigInt;
}

impl<QS> AppearsOnTable<QS> for WorkTime {}

impl<QS> SelectableExpression<QS> for WorkTime {}

impl<G> ValidGrouping<G> for WorkTime {
    type IsAggregate = is_aggregate::Never;
}

impl QueryId for WorkTime {
    type QueryId = ();

    // Its text depends on the database.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<DB> QueryFragment<DB> for WorkTime
where
    DB: Backend + HasSqlType<BigInt>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(self.base);
        out.push_bind_param::<BigInt, _>(&self.micros)
    }
}
