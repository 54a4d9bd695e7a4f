//! Statements of PostgreSQL's own, written out.

use diesel::pg::{Pg, PgConnection};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text, Untyped};

use crate::convert::Key;

/// A statement that is kept prepared under its text, unlike one of [`diesel::sql_query`]. Each `?` in the text stands
/// for the next of its values.
#[must_use]
pub(crate) struct Native<'a> {
    text: &'static str,
    values: Vec<Value<'a>>,
}

/// A value of a [`Native`] statement. Lists are columns for `unnest`.
pub(crate) enum Value<'a> {
    Int(i64),
    Bool(bool),
    Bytes(&'a [u8]),
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

impl Value<'_> {
    fn push<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        match self {
            Self::Int(value) => out.push_bind_param::<BigInt, _>(value),
            Self::Bool(value) => out.push_bind_param::<Bool, _>(value),
            Self::Bytes(value) => out.push_bind_param::<Binary, _>(value),
            Self::Text(value) => out.push_bind_param::<Text, _>(value),
            Self::MaybeText(value) => out.push_bind_param::<Nullable<Text>, _>(value),
            Self::Ints(list) => out.push_bind_param::<Array<BigInt>, _>(list),
            Self::Integers(list) => out.push_bind_param::<Array<Integer>, _>(list),
            Self::Days(list) => out.push_bind_param::<Array<Integer>, _>(list),
            Self::Keys(list) => out.push_bind_param::<Array<Binary>, _>(list),
            Self::BytesList(list) => out.push_bind_param::<Array<Binary>, _>(list),
            Self::Texts(list) => out.push_bind_param::<Array<Text>, _>(list),
            Self::Bools(list) => out.push_bind_param::<Array<Bool>, _>(list),
            Self::MaybeInts(list) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(list),
            Self::MaybeDays(list) => out.push_bind_param::<Array<Nullable<Integer>>, _>(list),
            Self::MaybeBytesList(list) => out.push_bind_param::<Array<Nullable<Binary>>, _>(list),
            Self::MaybeTexts(list) => out.push_bind_param::<Array<Nullable<Text>>, _>(list),
        }
    }
}

impl QueryFragment<Pg> for Native<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let mut parts = self.text.split('?');
        out.push_sql(parts.next().unwrap_or_default());
        for (value, part) in self.values.iter().zip(parts) {
            value.push(&mut out)?;
            out.push_sql(part);
        }
        Ok(())
    }
}

impl Query for Native<'_> {
    type SqlType = Untyped;
}

impl QueryId for Native<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<PgConnection> for Native<'_> {}
