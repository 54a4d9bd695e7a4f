//! Raw SQL statements: PostgreSQL's own, and inserts on the request path.
//!
//! Diesel traverses an insert of its own several times, for columns that a row might leave out. For a short insert that
//! takes as long as SQLite itself.

use std::borrow::Cow;

use diesel::backend::Backend;
use diesel::connection::Connection;
use diesel::deserialize::QueryableByName;
use diesel::pg::{Pg, PgConnection};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::Error;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Array, BigInt, Binary, Bool, HasSqlType, Integer, Nullable, Text, Untyped};
use diesel::sqlite::Sqlite;

use crate::connection::{AnyConnection, on_either};
use crate::sql_types::{Day, Id, UtcTimestamp, sql};

/// A statement that is kept prepared under its text, unlike one of [`diesel::sql_query`]. Each `?` in the text stands
/// for the next of its values.
#[must_use]
pub(crate) struct RawStatement<'a> {
    text: &'a str,
    values: Vec<Bind<'a>>,
}

/// Declares the types of values that statements take: the name, the type in Rust, and the one in SQL.
macro_rules! types {
    ($($name:ident($rust:ty) as $sql:ty;)*) => {
        /// A value of a [`RawStatement`]; [`binds!`] makes a list of them.
        pub(crate) enum Bind<'a> {
            $($name(Option<$rust>),)*
            /// Values for `unnest`, on PostgreSQL alone.
            Column(Column<'a>),
            /// A condition: `column ?` is true if the column has one of the values. SQLite gets them as a JSON array.
            IsOneOf(OneOf<i64>),
            IsOneOfIds(OneOf<Id>),
            IsOneOfTexts(OneOf<String>),
            /// So many microseconds from now by the clock of PostgreSQL's server. That is the time of the statement: within
            /// one it stands still, so that an index can be searched by it.
            FromServersNow(i64),
        }

        /// The values of one column, for `unnest`.
        pub(crate) enum Column<'a> {
            $($name(Vec<Option<$rust>>),)*
        }

        $(impl<'a> From<$rust> for Bind<'a> {
            fn from(value: $rust) -> Self {
                Self::$name(Some(value))
            }
        }

        impl<'a> From<Option<$rust>> for Bind<'a> {
            fn from(value: Option<$rust>) -> Self {
                Self::$name(value)
            }
        }

        impl<'a> From<&'a $rust> for Bind<'a> {
            fn from(value: &'a $rust) -> Self {
                Self::$name(Some(*value))
            }
        }

        impl<'a> From<&'a Option<$rust>> for Bind<'a> {
            fn from(value: &'a Option<$rust>) -> Self {
                Self::$name(*value)
            }
        }

        impl<'a> From<Vec<$rust>> for Bind<'a> {
            fn from(values: Vec<$rust>) -> Self {
                Self::Column(Column::$name(values.into_iter().map(Some).collect()))
            }
        })*

        /// The columns of rows whose values in one place are of one type.
        pub(crate) fn columns<'a>(rows: impl Iterator<Item = Vec<Bind<'a>>>) -> Vec<Bind<'a>> {
            let mut columns: Vec<Column<'a>> = Vec::new();
            for row in rows {
                for (place, value) in row.into_iter().enumerate() {
                    match (columns.get_mut(place), value) {
                        $((None, Bind::$name(value)) => columns.push(Column::$name(vec![value])),
                        (Some(Column::$name(column)), Bind::$name(value)) => column.push(value),)*
                        _ => debug_assert!(false, "the values of a column are of one type"),
                    }
                }
            }
            columns.into_iter().map(Bind::Column).collect()
        }

        impl QueryFragment<Pg> for RawStatement<'_> {
            fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
                self.write(out, |value, out| match value {
                    $(Bind::$name(value) => out.push_bind_param::<Nullable<$sql>, _>(value),
                    Bind::Column(Column::$name(values)) => {
                        out.push_bind_param::<Array<Nullable<$sql>>, _>(values)
                    })*
                    Bind::IsOneOf(list) => around::<Array<BigInt>, _, _>("= ANY (", &list.0, ")", out),
                    Bind::IsOneOfIds(list) => around::<Array<sql::Id>, _, _>("= ANY (", &list.0, ")", out),
                    Bind::IsOneOfTexts(list) => around::<Array<Text>, _, _>("= ANY (", &list.0, ")", out),
                    Bind::FromServersNow(micros) => around::<BigInt, _, _>(
                        "(statement_timestamp() + interval '1 microsecond' * ", micros, ")", out
                    ),
                })
            }
        }

        impl QueryFragment<Sqlite> for RawStatement<'_> {
            fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
                self.write(out, |value, out| match value {
                    $(Bind::$name(value) => out.push_bind_param::<Nullable<$sql>, _>(value),)*
                    Bind::IsOneOf(list) => around::<Text, _, _>(JSON_VALUES, list, "))", out),
                    Bind::IsOneOfIds(list) => around::<Text, _, _>(JSON_IDS, list, "))", out),
                    Bind::IsOneOfTexts(list) => around::<Text, _, _>(JSON_VALUES, list, "))", out),
                    Bind::Column(_) | Bind::FromServersNow(_) => {
                        Err(Error::QueryBuilderError("a value for PostgreSQL was meant for SQLite".into()))
                    }
                })
            }
        }
    };
}

types! {
    BigInt(i64) as BigInt;
    Integer(i32) as Integer;
    Bool(bool) as Bool;
    Id(Id) as sql::Id;
    UtcTimestamp(UtcTimestamp) as sql::UtcTimestamp;
    Day(Day) as sql::Day;
    Bytes(&'a [u8]) as Binary;
    Text(&'a str) as Text;
}

/// Lets a statement take a reference to the owner of a text or of bytes, or to one that may be missing.
macro_rules! owners {
    ($($owner:ty: $name:ident, $borrow:expr;)*) => {
        $(impl<'a> From<&'a $owner> for Bind<'a> {
            fn from(value: &'a $owner) -> Self {
                Self::$name(Some($borrow(value)))
            }
        }

        impl<'a> From<&'a Option<$owner>> for Bind<'a> {
            fn from(value: &'a Option<$owner>) -> Self {
                Self::$name(value.as_ref().map($borrow))
            }
        })*
    };
}

owners! {
    String: Text, String::as_str;
    Cow<'a, str>: Text, Cow::as_ref;
    Vec<u8>: Bytes, Vec::as_slice;
}

impl From<OneOf<i64>> for Bind<'_> {
    fn from(values: OneOf<i64>) -> Self {
        Self::IsOneOf(values)
    }
}

impl From<OneOf<Id>> for Bind<'_> {
    fn from(values: OneOf<Id>) -> Self {
        Self::IsOneOfIds(values)
    }
}

impl From<OneOf<String>> for Bind<'_> {
    fn from(values: OneOf<String>) -> Self {
        Self::IsOneOfTexts(values)
    }
}

/// The values of a [`RawStatement`], in their order.
macro_rules! binds {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::statements::Bind::from($value)),*]
    };
}
pub(crate) use binds;

/// Values of which a column may have any.
#[derive(Debug)]
pub(crate) struct OneOf<T>(pub(crate) Vec<T>);

impl ToSql<Text, Sqlite> for OneOf<i64> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(format!("{:?}", self.0));
        Ok(IsNull::No)
    }
}

impl ToSql<Text, Sqlite> for OneOf<Id> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        let hex: Vec<String> = self.0.iter().map(|id| id.0.simple().to_string()).collect();
        out.set_value(format!("{hex:?}"));
        Ok(IsNull::No)
    }
}

impl ToSql<Text, Sqlite> for OneOf<String> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(serde_json::to_string(&self.0)?);
        Ok(IsNull::No)
    }
}

impl<'a> RawStatement<'a> {
    pub(crate) fn new(text: &'a str, values: Vec<Bind<'a>>) -> Self {
        debug_assert_eq!(text.matches('?').count(), values.len(), "{text}");
        Self { text, values }
    }

    /// Writes the text, and each of the values by `push`.
    fn write<'b, DB: Backend>(
        &'b self,
        mut out: AstPass<'_, 'b, DB>,
        push: impl Fn(&'b Bind<'a>, &mut AstPass<'_, 'b, DB>) -> QueryResult<()>,
    ) -> QueryResult<()> {
        let mut parts = self.text.split('?');
        out.push_sql(parts.next().unwrap_or_default());
        for (value, part) in self.values.iter().zip(parts) {
            push(value, &mut out)?;
            out.push_sql(part);
        }
        Ok(())
    }
}

const JSON_VALUES: &str = "IN (SELECT value FROM json_each(";
const JSON_IDS: &str = "IN (SELECT unhex(value) FROM json_each(";

/// Writes a bind with SQL around it.
fn around<'b, T, U, DB>(
    before: &str,
    value: &'b U,
    after: &str,
    out: &mut AstPass<'_, 'b, DB>,
) -> QueryResult<()>
where
    DB: Backend + HasSqlType<T>,
    U: ToSql<T, DB>,
{
    out.push_sql(before);
    out.push_bind_param::<T, _>(value)?;
    out.push_sql(after);
    Ok(())
}

impl Query for RawStatement<'_> {
    type SqlType = Untyped;
}

impl QueryId for RawStatement<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<C: Connection> RunQueryDsl<C> for RawStatement<'_> {}

/// Runs a statement that both databases know, and says how many rows it changed.
pub(crate) fn execute(
    connection: &mut AnyConnection,
    text: &str,
    values: Vec<Bind<'_>>,
) -> QueryResult<usize> {
    let statement = RawStatement::new(text, values);
    on_either!(connection, inner => statement.execute(inner))
}

/// The rows that a statement finds which both databases know.
pub(crate) fn load<T>(
    connection: &mut AnyConnection,
    text: &str,
    values: Vec<Bind<'_>>,
) -> QueryResult<Vec<T>>
where
    T: QueryableByName<Sqlite> + QueryableByName<Pg> + 'static,
{
    let statement = RawStatement::new(text, values);
    on_either!(connection, inner => statement.load(inner))
}

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    answer: bool,
}

/// Whether a statement that both databases know returns true; one without rows does not.
pub(crate) fn is_any(connection: &mut AnyConnection, text: &str, values: Vec<Bind<'_>>) -> QueryResult<bool> {
    load(connection, text, values).map(|rows: Vec<Answer>| rows.iter().any(|row| row.answer))
}

/// The same of a statement for PostgreSQL.
pub(crate) fn is_true(pg: &mut PgConnection, text: &str, values: Vec<Bind<'_>>) -> QueryResult<bool> {
    RawStatement::new(text, values).get_result(pg).map(|row: Answer| row.answer)
}

/// A row that [`insert`] adds; [`row!`] implements it.
pub(crate) trait InsertRow {
    /// Adds one row.
    const INSERT: &'static str;
    /// Adds rows by their columns, on PostgreSQL.
    const INSERT_COLUMNS: &'static str;

    /// The values of the columns.
    fn values(&self) -> Vec<Bind<'_>>;
}

/// Implements [`InsertRow`] for a type whose fields are named like the columns. Parts of it, which have the rest, follow.
/// `$conflict`: what the insert does with a row that is there, if that is no error.
macro_rules! row {
    (
        $row:ty, $table:ident $(($conflict:literal))?:
        $first:ident $(, $field:ident)* $(; $part:ident: $($inner:ident),*)*
    ) => {
        impl $crate::statements::InsertRow for $row {
            const INSERT: &'static str = concat!(
                "INSERT INTO ", stringify!($table), " (",
                stringify!($first) $(, ", ", stringify!($field))* $($(, ", ", stringify!($inner))*)*,
                ") VALUES (?" $(, $crate::statements::mark!($field))* $($(, $crate::statements::mark!($inner))*)*,
                ")" $(, $conflict)?
            );
            const INSERT_COLUMNS: &'static str = concat!(
                "INSERT INTO ", stringify!($table), " (",
                stringify!($first) $(, ", ", stringify!($field))* $($(, ", ", stringify!($inner))*)*,
                ") SELECT * FROM unnest(?" $(, $crate::statements::mark!($field))*
                $($(, $crate::statements::mark!($inner))*)*, ")" $(, $conflict)?
            );

            fn values(&self) -> Vec<$crate::statements::Bind<'_>> {
                $crate::statements::binds![&self.$first $(, &self.$field)* $($(, &self.$part.$inner)*)*]
            }
        }
    };
}
pub(crate) use row;

/// Columns of a table as a `SELECT` names them, the table under this alias.
macro_rules! select_list {
    ($alias:literal: $first:ident $(, $column:ident)*) => {
        concat!($alias, ".", stringify!($first) $(, ", ", $alias, ".", stringify!($column))*)
    };
}
pub(crate) use select_list;

/// The mark of one more value.
macro_rules! mark {
    ($column:ident) => {
        ", ?"
    };
}
pub(crate) use mark;

/// Adds rows. SQLite is in this process: a prepared statement in a loop costs no round trip. PostgreSQL gets one statement
/// over arrays.
pub(crate) fn insert<R: InsertRow>(connection: &mut AnyConnection, rows: &[R]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows
            .iter()
            .try_for_each(|row| RawStatement::new(R::INSERT, row.values()).execute(sqlite).map(drop)),
        AnyConnection::Postgres(_) if rows.is_empty() => Ok(()),
        AnyConnection::Postgres(pg) => {
            let columns = columns(rows.iter().map(InsertRow::values));
            RawStatement::new(R::INSERT_COLUMNS, columns).execute(pg).map(drop)
        }
    }
}

// Chunk sizes of statements over thousands of rows. A process of the database server yields its processor between two
// statements and hardly within one, so a statement takes a millisecond or less: where processors are few, a look-up waits
// for one of these and not for all of them. The transaction stays one. SQLite runs in this process and does not mind.

/// Rows that one statement adds. Each is looked for in other tables and goes into several indexes.
pub(crate) const INSERT_CHUNK: usize = 50;
/// Rows that one statement reads or changes.
pub(crate) const UPDATE_CHUNK: u32 = 100;
/// Rows that one statement passes over to find some.
pub(crate) const SCAN_CHUNK: u32 = 1_000;
/// Rows that one statement counts: half a millisecond.
pub(crate) const COUNT_CHUNK: u32 = 250;

/// Splits ordinals from 0 to `rows` into half-open ranges of `length`.
pub(crate) fn ordinal_ranges(rows: i64, length: u32) -> impl Iterator<Item = (i64, i64)> {
    (0..rows).step_by(length as usize).map(move |first| (first, first + i64::from(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ordinal_is_in_one_range() {
        for rows in [0, 1, 99, 100, 101, 250] {
            let ordinals: Vec<i64> =
                ordinal_ranges(rows, 100).flat_map(|(first, end)| first..end.min(rows)).collect();
            assert_eq!(ordinals, (0..rows).collect::<Vec<_>>());
        }
    }
}
