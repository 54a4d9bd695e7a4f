//! UPDATE statements that are kept prepared.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::connection::Connection;
use diesel::query_builder::{AsChangeset, AstPass, IntoUpdateTarget, QueryFragment, QueryId};
use diesel::query_dsl::RunQueryDsl;
use diesel::query_source::QuerySource;

/// Begins an UPDATE of `target`, which is what [`diesel::update`] takes.
///
/// Diesel prepares its own statement anew each time, because a changeset may leave columns out and so make any number
/// of statements. Ours always name the same columns: each has one text, by which it is found again.
pub(crate) fn update<T: IntoUpdateTarget>(target: T) -> Target<T::Table, T::WhereClause> {
    let target = target.into_update_target();
    Target { table: target.table, filter: target.where_clause }
}

/// An UPDATE that does not know yet what to change.
#[must_use]
pub(crate) struct Target<T, F> {
    table: T,
    filter: F,
}

impl<T: QuerySource, F> Target<T, F> {
    /// Says what to change.
    pub(crate) fn set<C: AsChangeset<Target = T>>(
        self,
        changes: C,
    ) -> Update<T::FromClause, C::Changeset, F> {
        Update { table: self.table.from_clause(), changes: changes.as_changeset(), filter: self.filter }
    }
}

/// A whole UPDATE.
#[must_use]
pub(crate) struct Update<T, C, F> {
    table: T,
    changes: C,
    filter: F,
}

impl<T, C, F, DB> QueryFragment<DB> for Update<T, C, F>
where
    DB: Backend,
    T: QueryFragment<DB>,
    C: QueryFragment<DB>,
    F: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("UPDATE ");
        self.table.walk_ast(out.reborrow())?;
        out.push_sql(" SET ");
        self.changes.walk_ast(out.reborrow())?;
        self.filter.walk_ast(out)
    }
}

impl<T, C, F> QueryId for Update<T, C, F> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<T, C, F, Conn: Connection> RunQueryDsl<Conn> for Update<T, C, F> {}
