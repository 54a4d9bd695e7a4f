//! Statements that are written out: those of PostgreSQL's own, and inserts that are run for every call. Diesel goes over
//! an insert of its own several times, for what a row might leave out, which takes SQLite's share of a short one.

use diesel::backend::Backend;
use diesel::connection::Connection;
use diesel::deserialize::QueryableByName;
use diesel::pg::Pg;
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

/// A value of a [`RawStatement`] statement. Other lists are columns for `unnest`, and PostgreSQL's alone.
pub(crate) enum Bind<'a> {
    Int(i64),
    MaybeInt(Option<i64>),
    Id(Id),
    MaybeId(Option<Id>),
    UtcTimestamp(UtcTimestamp),
    MaybeMoment(Option<UtcTimestamp>),
    Day(Day),
    MaybeDay(Option<Day>),
    Integer(i32),
    Bool(bool),
    Bytes(&'a [u8]),
    MaybeBytes(Option<&'a [u8]>),
    Text(&'a str),
    MaybeText(Option<&'a str>),
    Ints(Vec<i64>),
    Ids(Vec<Id>),
    Texts(Vec<&'a str>),
    Column(Column<'a>),
    /// A condition: `column ?` is true if the column has one of the values. SQLite gets them as a JSON array.
    IsOneOf(OneOf<i64>),
    IsOneOfIds(OneOf<Id>),
}

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

impl<'a> RawStatement<'a> {
    pub(crate) fn new(text: &'a str, values: Vec<Bind<'a>>) -> Self {
        debug_assert_eq!(text.matches('?').count(), values.len(), "{text}");
        Self { text, values }
    }
}

/// Binds a value that is no list, or does as the other arms say.
macro_rules! push {
    ($value:expr, $out:expr, $($list:pat => $push:expr,)*) => {
        match $value {
            Bind::Int(value) => $out.push_bind_param::<BigInt, _>(value),
            Bind::MaybeInt(value) => $out.push_bind_param::<Nullable<BigInt>, _>(value),
            Bind::Id(value) => $out.push_bind_param::<sql::Id, _>(value),
            Bind::MaybeId(value) => $out.push_bind_param::<Nullable<sql::Id>, _>(value),
            Bind::UtcTimestamp(value) => $out.push_bind_param::<sql::UtcTimestamp, _>(value),
            Bind::MaybeMoment(value) => $out.push_bind_param::<Nullable<sql::UtcTimestamp>, _>(value),
            Bind::Day(value) => $out.push_bind_param::<sql::Day, _>(value),
            Bind::MaybeDay(value) => $out.push_bind_param::<Nullable<sql::Day>, _>(value),
            Bind::Integer(value) => $out.push_bind_param::<Integer, _>(value),
            Bind::Bool(value) => $out.push_bind_param::<Bool, _>(value),
            Bind::Bytes(value) => $out.push_bind_param::<Binary, _>(value),
            Bind::MaybeBytes(value) => $out.push_bind_param::<Nullable<Binary>, _>(value),
            Bind::Text(value) => $out.push_bind_param::<Text, _>(value),
            Bind::MaybeText(value) => $out.push_bind_param::<Nullable<Text>, _>(value),
            $($list => $push,)*
        }
    };
}

impl<'a> RawStatement<'a> {
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

impl QueryFragment<Pg> for RawStatement<'_> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.write(out, |value, out| {
            push!(value, out,
                Bind::Ints(list) => out.push_bind_param::<Array<BigInt>, _>(list),
                Bind::Ids(list) => out.push_bind_param::<Array<sql::Id>, _>(list),
                Bind::Texts(list) => out.push_bind_param::<Array<Text>, _>(list),
                Bind::Column(Column::Ints(list)) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(list),
                Bind::Column(Column::Ids(list)) => out.push_bind_param::<Array<Nullable<sql::Id>>, _>(list),
                Bind::Column(Column::Moments(list)) => out.push_bind_param::<Array<Nullable<sql::UtcTimestamp>>, _>(list),
                Bind::Column(Column::Days(list)) => out.push_bind_param::<Array<Nullable<sql::Day>>, _>(list),
                Bind::Column(Column::Integers(list)) => out.push_bind_param::<Array<Nullable<Integer>>, _>(list),
                Bind::Column(Column::Bools(list)) => out.push_bind_param::<Array<Nullable<Bool>>, _>(list),
                Bind::Column(Column::Bytes(list)) => out.push_bind_param::<Array<Nullable<Binary>>, _>(list),
                Bind::Column(Column::Texts(list)) => out.push_bind_param::<Array<Nullable<Text>>, _>(list),
                Bind::IsOneOf(list) => condition::<Array<BigInt>, _, _>("= ANY (", &list.0, ")", out),
                Bind::IsOneOfIds(list) => condition::<Array<sql::Id>, _, _>("= ANY (", &list.0, ")", out),
            )
        })
    }
}

impl QueryFragment<Sqlite> for RawStatement<'_> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.write(out, |value, out| {
            push!(value, out,
                Bind::IsOneOf(list) => condition::<Text, _, _>(JSON_VALUES, list, "))", out),
                Bind::IsOneOfIds(list) => condition::<Text, _, _>(JSON_IDS, list, "))", out),
                _ => Err(Error::QueryBuilderError("SQLite has no lists".into())),
            )
        })
    }
}

const JSON_VALUES: &str = "IN (SELECT value FROM json_each(";
const JSON_IDS: &str = "IN (SELECT unhex(value) FROM json_each(";

/// Writes a condition with one bind in it.
fn condition<'b, T, U, DB>(
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

/// Runs a statement that both databases know.
pub(crate) fn execute(
    connection: &mut AnyConnection,
    text: &'static str,
    values: Vec<Bind<'_>>,
) -> QueryResult<()> {
    let statement = RawStatement::new(text, values);
    on_either!(connection, inner => statement.execute(inner)).map(drop)
}

/// The rows that a statement finds which both databases know.
pub(crate) fn load<T>(
    connection: &mut AnyConnection,
    text: &'static str,
    values: Vec<Bind<'_>>,
) -> QueryResult<Vec<T>>
where
    T: QueryableByName<Sqlite> + QueryableByName<Pg> + 'static,
{
    let statement = RawStatement::new(text, values);
    on_either!(connection, inner => statement.load(inner))
}

/// A row that [`insert`] adds.
pub(crate) trait Row {
    /// The table and the columns.
    const INTO: &'static str;

    /// The values of the columns.
    fn values(&self) -> Vec<Bind<'_>>;
}

/// What an insert does with rows that are there.
pub(crate) const OR_NOTHING: &str = " ON CONFLICT DO NOTHING";

/// Adds rows, and says how many. SQLite is in this process: a prepared statement in a loop costs no round trip.
/// PostgreSQL gets one statement over arrays. `conflict`: nothing, or what follows on a row that is there.
pub(crate) fn insert<R: Row>(
    connection: &mut AnyConnection,
    rows: &[R],
    conflict: &str,
) -> QueryResult<usize> {
    let Some(first) = rows.first() else { return Ok(0) };
    let (into, marks) = (R::INTO, vec!["?"; first.values().len()].join(", "));
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            let text = format!("INSERT INTO {into} VALUES ({marks}){conflict}");
            rows.iter().map(|row| RawStatement::new(&text, row.values()).execute(sqlite)).sum()
        }
        AnyConnection::Postgres(pg) => {
            let text = format!("INSERT INTO {into} SELECT * FROM unnest({marks}){conflict}");
            let columns = columns(rows.iter().map(Row::values)).into_iter().map(Bind::Column).collect();
            RawStatement::new(&text, columns).execute(pg)
        }
    }
}

/// The columns of rows.
pub(crate) fn columns<'a>(rows: impl Iterator<Item = Vec<Bind<'a>>>) -> Vec<Column<'a>> {
    let mut columns: Vec<Column<'a>> = Vec::new();
    for row in rows {
        if columns.is_empty() {
            columns = row.iter().map(Column::of).collect();
        }
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    columns
}

/// The values of one column, for `unnest`.
pub(crate) enum Column<'a> {
    Ints(Vec<Option<i64>>),
    Ids(Vec<Option<Id>>),
    Moments(Vec<Option<UtcTimestamp>>),
    Days(Vec<Option<Day>>),
    Integers(Vec<Option<i32>>),
    Bools(Vec<Option<bool>>),
    Bytes(Vec<Option<&'a [u8]>>),
    Texts(Vec<Option<&'a str>>),
}

impl<'a> Column<'a> {
    /// An empty column for values like this one.
    fn of(value: &Bind<'a>) -> Self {
        match value {
            Bind::Id(_) | Bind::MaybeId(_) => Self::Ids(Vec::new()),
            Bind::UtcTimestamp(_) | Bind::MaybeMoment(_) => Self::Moments(Vec::new()),
            Bind::Day(_) | Bind::MaybeDay(_) => Self::Days(Vec::new()),
            Bind::Integer(_) => Self::Integers(Vec::new()),
            Bind::Bool(_) => Self::Bools(Vec::new()),
            Bind::Bytes(_) | Bind::MaybeBytes(_) => Self::Bytes(Vec::new()),
            Bind::Text(_) | Bind::MaybeText(_) => Self::Texts(Vec::new()),
            _ => Self::Ints(Vec::new()),
        }
    }

    /// Adds a value, which is of the column's type.
    fn push(&mut self, value: Bind<'a>) {
        match (self, value) {
            (Self::Ints(column), Bind::Int(value)) => column.push(Some(value)),
            (Self::Ints(column), Bind::MaybeInt(value)) => column.push(value),
            (Self::Ids(column), Bind::Id(value)) => column.push(Some(value)),
            (Self::Ids(column), Bind::MaybeId(value)) => column.push(value),
            (Self::Moments(column), Bind::UtcTimestamp(value)) => column.push(Some(value)),
            (Self::Moments(column), Bind::MaybeMoment(value)) => column.push(value),
            (Self::Days(column), Bind::Day(value)) => column.push(Some(value)),
            (Self::Days(column), Bind::MaybeDay(value)) => column.push(value),
            (Self::Integers(column), Bind::Integer(value)) => column.push(Some(value)),
            (Self::Bools(column), Bind::Bool(value)) => column.push(Some(value)),
            (Self::Bytes(column), Bind::Bytes(value)) => column.push(Some(value)),
            (Self::Bytes(column), Bind::MaybeBytes(value)) => column.push(value),
            (Self::Texts(column), Bind::Text(value)) => column.push(Some(value)),
            (Self::Texts(column), Bind::MaybeText(value)) => column.push(value),
            _ => debug_assert!(false, "the values of a column are of one type"),
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
