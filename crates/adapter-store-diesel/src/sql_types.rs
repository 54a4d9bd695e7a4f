//! Identifiers, timestamps and days of columns: native on PostgreSQL, compact on SQLite.

use std::io::Write as _;

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, Binary, HasSqlType, Integer};
use diesel::sqlite::Sqlite;
use kopeck_port_store::StoreError;
use time::{Date, Duration, OffsetDateTime};
use uuid::Uuid;

use crate::connection::MultiBackend;
use crate::convert::corrupt;

/// The types of columns.
pub(crate) mod sql {
    use diesel::query_builder::QueryId;
    use diesel::sql_types::SqlType;
    pub(crate) use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};

    /// `uuid`, and BLOB on SQLite.
    #[derive(Debug, Clone, Copy, QueryId, SqlType)]
    #[diesel(sqlite_type(name = "Binary"), postgres_type(oid = 2950, array_oid = 2951))]
    pub struct Id;

    /// `timestamptz`, and INTEGER on SQLite: microseconds since 1970. Not named `Timestamp`, for which `table!` adds
    /// operators.
    #[derive(Debug, Clone, Copy, QueryId, SqlType)]
    #[diesel(sqlite_type(name = "Long"), postgres_type(oid = 1184, array_oid = 1185))]
    pub struct UtcTimestamp;

    impl diesel::sql_types::SqlOrd for UtcTimestamp {}

    /// `date`, and INTEGER on SQLite: Julian day number.
    #[derive(Debug, Clone, Copy, QueryId, SqlType)]
    #[diesel(sqlite_type(name = "Integer"), postgres_type(oid = 1082, array_oid = 1182))]
    pub struct Day;
}

/// PostgreSQL counts from 2000-01-01.
const EPOCH_MICROS: i64 = 946_684_800_000_000;
const EPOCH_DAY: i32 = 2_451_545;

/// An identifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, AsExpression, FromSqlRow)]
#[diesel(sql_type = sql::Id)]
pub(crate) struct Id(pub(crate) Uuid);

/// A timestamp, in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = sql::UtcTimestamp)]
pub(crate) struct UtcTimestamp(pub(crate) i64);

/// A Julian day number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = sql::Day)]
pub(crate) struct Day(pub(crate) i32);

impl Id {
    /// The domain's identifier.
    pub(crate) fn to<T: From<Uuid>>(self) -> T {
        self.0.into()
    }

    pub(crate) fn of(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl UtcTimestamp {
    /// Rounded down to microseconds. Every timestamp of the years ±9999 fits.
    pub(crate) fn of(time: OffsetDateTime) -> Self {
        let nanos = time.unix_timestamp_nanos();
        Self(i64::try_from(nanos.div_euclid(1_000)).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX }))
    }

    /// The timestamp in this column.
    pub(crate) fn time(self, column: &'static str) -> Result<OffsetDateTime, StoreError> {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000).map_err(|_| corrupt(column))
    }

    /// The timestamp in a column that may have none.
    pub(crate) fn optional(
        stored: Option<Self>,
        column: &'static str,
    ) -> Result<Option<OffsetDateTime>, StoreError> {
        stored.map(|at| at.time(column)).transpose()
    }

    /// So much later.
    pub(crate) fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(whole_micros(by)))
    }
}

pub(crate) fn whole_micros(duration: Duration) -> i64 {
    i64::try_from(duration.whole_microseconds()).unwrap_or(i64::MAX)
}

impl Day {
    pub(crate) fn of(date: Date) -> Self {
        Self(date.to_julian_day())
    }

    /// The day in this column.
    pub(crate) fn date(self, column: &'static str) -> Result<Date, StoreError> {
        Date::from_julian_day(self.0).map_err(|_| corrupt(column))
    }
}

/// Implements the conversions of a type: its bytes for PostgreSQL, and the value that SQLite stores.
macro_rules! conversions {
    ($name:ident, $value:ident => $to_pg:expr, $bytes:ident => $from_pg:expr, $sqlite:ident: $to_sqlite:expr, $stored:ident: $rust:ty => $from_sqlite:expr) => {
        impl HasSqlType<sql::$name> for MultiBackend {
            fn metadata(lookup: &mut Self::MetadataLookup) -> Self::TypeMetadata {
                Self::lookup_sql_type::<sql::$name>(lookup)
            }
        }

        impl ToSql<sql::$name, MultiBackend> for $name {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, MultiBackend>) -> serialize::Result {
                out.set_value((sql::$name, self));
                Ok(IsNull::No)
            }
        }

        impl FromSql<sql::$name, MultiBackend> for $name {
            fn from_sql(value: <MultiBackend as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
                value.from_sql::<Self, sql::$name>()
            }
        }

        impl ToSql<sql::$name, Pg> for $name {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
                let $value = self;
                out.write_all($to_pg)?;
                Ok(IsNull::No)
            }
        }

        impl FromSql<sql::$name, Pg> for $name {
            fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
                let $bytes = value.as_bytes();
                Ok(Self($from_pg))
            }
        }

        impl ToSql<sql::$name, Sqlite> for $name {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
                let $value = self;
                out.set_value($to_sqlite);
                Ok(IsNull::No)
            }
        }

        impl FromSql<sql::$name, Sqlite> for $name {
            fn from_sql(value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
                let $stored = <$rust as FromSql<$sqlite, Sqlite>>::from_sql(value)?;
                Ok(Self($from_sqlite))
            }
        }
    };
}

conversions!(
    Id,
    id => id.bytes(),
    bytes => Uuid::from_slice(bytes)?,
    Binary: id.bytes(),
    stored: Vec<u8> => Uuid::from_slice(&stored)?
);
conversions!(
    UtcTimestamp,
    moment => &moment.0.saturating_sub(EPOCH_MICROS).to_be_bytes(),
    bytes => i64::from_be_bytes(bytes.try_into()?).saturating_add(EPOCH_MICROS),
    BigInt: moment.0,
    stored: i64 => stored
);
conversions!(
    Day,
    day => &day.0.saturating_sub(EPOCH_DAY).to_be_bytes(),
    bytes => i32::from_be_bytes(bytes.try_into()?).saturating_add(EPOCH_DAY),
    Integer: day.0,
    stored: i32 => stored
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_keep_their_microseconds() {
        for micros in [0, 1, -1, 1_795_243_000_123_456, -62_135_596_800_000_000] {
            assert_eq!(UtcTimestamp::of(UtcTimestamp(micros).time("t.c").unwrap()), UtcTimestamp(micros));
        }
        assert_eq!(UtcTimestamp::of(OffsetDateTime::UNIX_EPOCH - Duration::nanoseconds(1)), UtcTimestamp(-1));
    }

    #[test]
    fn values_outside_of_the_domain_are_corrupt() {
        assert_eq!(UtcTimestamp(i64::MAX).time("t.c"), Err(corrupt("t.c")));
        assert_eq!(Day(i32::MAX).date("t.c"), Err(corrupt("t.c")));
    }
}
