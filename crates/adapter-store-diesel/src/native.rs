//! Statements that are written out: those of PostgreSQL's own, and inserts that are run for every call. Diesel goes over
//! an insert of its own several times, for what a row might leave out, which takes SQLite's share of a short one.

use diesel::connection::Connection;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::Error;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text, Untyped};
use diesel::sqlite::Sqlite;

use crate::convert::Key;

/// A statement that is kept prepared under its text, unlike one of [`diesel::sql_query`]. Each `?` in the text stands
/// for the next of its values.
#[must_use]
pub(crate) struct Native<'a> {
    text: &'static str,
    values: Vec<Value<'a>>,
}

/// A value of a [`Native`] statement. Lists are columns for `unnest`, and PostgreSQL's alone.
pub(crate) enum Value<'a> {
    Int(i64),
    MaybeInt(Option<i64>),
    Bool(bool),
    Bytes(&'a [u8]),
    MaybeBytes(Option<&'a [u8]>),
    Text(&'a str),
    MaybeText(Option<&'a str>),
    Ints(Vec<i64>),
    Days(Vec<i32>),
    Integers(Vec<i32>),
    Keys(Vec<Key>),
    BytesList(Vec<&'a [u8]>),
    Texts(Vec<&'a str>),
    Bools(Vec<bool>),
    MaybeInts(Vec<Option<i64>>),
    MaybeDays(Vec<Option<i32>>),
    MaybeBytesList(Vec<Option<&'a [u8]>>),
    MaybeTexts(Vec<Option<&'a str>>),
}

impl<'a> Native<'a> {
    pub(crate) fn new(text: &'static str, values: Vec<Value<'a>>) -> Self {
        debug_assert_eq!(text.matches('?').count(), values.len(), "{text}");
        Self { text, values }
    }
}

/// Binds a value that is no list, or does as the other arms say.
macro_rules! push {
    ($value:expr, $out:expr, $($list:pat => $push:expr,)*) => {
        match $value {
            Value::Int(value) => $out.push_bind_param::<BigInt, _>(value),
            Value::MaybeInt(value) => $out.push_bind_param::<Nullable<BigInt>, _>(value),
            Value::Bool(value) => $out.push_bind_param::<Bool, _>(value),
            Value::Bytes(value) => $out.push_bind_param::<Binary, _>(value),
            Value::MaybeBytes(value) => $out.push_bind_param::<Nullable<Binary>, _>(value),
            Value::Text(value) => $out.push_bind_param::<Text, _>(value),
            Value::MaybeText(value) => $out.push_bind_param::<Nullable<Text>, _>(value),
            $($list => $push,)*
        }
    };
}

impl<'a> Native<'a> {
    /// Writes the text, and each of the values by `push`.
    fn write<'b, DB: diesel::backend::Backend>(
        &'b self,
        mut out: AstPass<'_, 'b, DB>,
        push: impl Fn(&'b Value<'a>, &mut AstPass<'_, 'b, DB>) -> QueryResult<()>,
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

impl QueryFragment<Pg> for Native<'_> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.write(out, |value, out| {
            push!(value, out,
                Value::Ints(list) => out.push_bind_param::<Array<BigInt>, _>(list),
                Value::Integers(list) | Value::Days(list) => out.push_bind_param::<Array<Integer>, _>(list),
                Value::Keys(list) => out.push_bind_param::<Array<Binary>, _>(list),
                Value::BytesList(list) => out.push_bind_param::<Array<Binary>, _>(list),
                Value::Texts(list) => out.push_bind_param::<Array<Text>, _>(list),
                Value::Bools(list) => out.push_bind_param::<Array<Bool>, _>(list),
                Value::MaybeInts(list) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(list),
                Value::MaybeDays(list) => out.push_bind_param::<Array<Nullable<Integer>>, _>(list),
                Value::MaybeBytesList(list) => out.push_bind_param::<Array<Nullable<Binary>>, _>(list),
                Value::MaybeTexts(list) => out.push_bind_param::<Array<Nullable<Text>>, _>(list),
            )
        })
    }
}

impl QueryFragment<Sqlite> for Native<'_> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.write(out, |value, out| {
            push!(value, out,
                _ => Err(Error::QueryBuilderError("SQLite has no lists".into())),
            )
        })
    }
}

impl Query for Native<'_> {
    type SqlType = Untyped;
}

impl QueryId for Native<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<C: Connection> RunQueryDsl<C> for Native<'_> {}
