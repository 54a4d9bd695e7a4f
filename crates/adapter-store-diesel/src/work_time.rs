//! The moment by which work is due and leases are over, as part of a statement, so that asking for it costs no round trip
//! of its own.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType};

use crate::sql_types::{UtcTimestamp, sql};

/// A timestamp: this one, or so many microseconds from now by the clock of PostgreSQL's server. That is the time of the
/// statement: within one it stands still, so that an index can be searched by it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WorkTime {
    At(UtcTimestamp),
    FromServersNow(i64),
}

impl Expression for WorkTime {
    type SqlType = sql::UtcTimestamp;
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
    DB: Backend + HasSqlType<BigInt> + HasSqlType<sql::UtcTimestamp>,
    i64: ToSql<BigInt, DB>,
    UtcTimestamp: ToSql<sql::UtcTimestamp, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        match self {
            Self::At(moment) => out.push_bind_param::<sql::UtcTimestamp, _>(moment),
            Self::FromServersNow(micros) => {
                out.push_sql("(statement_timestamp() + interval '1 microsecond' * ");
                out.push_bind_param::<BigInt, _>(micros)?;
                out.push_sql(")");
                Ok(())
            }
        }
    }
}
