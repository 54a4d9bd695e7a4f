//! Dense numbers for lists whose rows are never deleted.

use diesel::prelude::*;
use kopeck_port_store::{Rule, StoreError};

use crate::convert::Key;
use crate::dialect::AnyConnection;
use crate::error::Stored;
use crate::schema::counters;
use crate::update::update;

/// A numbered list of a partner.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Categories,
    Employees,
    Cards,
    Orders,
    Replenishments,
    LimitChanges,
}

impl List {
    pub(crate) const ALL: [Self; 6] = [
        Self::Categories,
        Self::Employees,
        Self::Cards,
        Self::Orders,
        Self::Replenishments,
        Self::LimitChanges,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Categories => "categories",
            Self::Employees => "employees",
            Self::Cards => "cards",
            Self::Orders => "orders",
            Self::Replenishments => "replenishments",
            Self::LimitChanges => "limit_changes",
        }
    }
}

/// Starts a new partner's lists.
pub(crate) fn start(connection: &mut AnyConnection, partner: &Key) -> Result<(), StoreError> {
    for list in List::ALL {
        diesel::insert_into(counters::table)
            .values((
                counters::partner_id.eq(partner),
                counters::list.eq(list.as_str()),
                counters::last.eq(0_i64),
            ))
            .execute(connection)
            .stored()?;
    }
    Ok(())
}

/// The last number given out; `None` if there is no such partner.
pub(crate) fn last(
    connection: &mut AnyConnection,
    partner: &Key,
    list: List,
) -> Result<Option<i64>, StoreError> {
    counters::table
        .find((partner, list.as_str()))
        .select(counters::last)
        .get_result(connection)
        .optional()
        .stored()
}

/// The number for the next row. It is given out by [`advance`], after the row was inserted: an insert that a
/// constraint refuses then leaves no gap, even if the unit of work goes on.
pub(crate) fn next(connection: &mut AnyConnection, partner: &Key, list: List) -> Result<i64, StoreError> {
    let last = last(connection, partner, list)?.ok_or(StoreError::Conflict(Rule::Reference))?;
    Ok(last + 1)
}

/// Gives out the numbers up to `last`.
pub(crate) fn advance(
    connection: &mut AnyConnection,
    partner: &Key,
    list: List,
    last: i64,
) -> Result<(), StoreError> {
    update(counters::table.find((partner, list.as_str())))
        .set(counters::last.eq(last))
        .execute(connection)
        .stored()
        .map(drop)
}
