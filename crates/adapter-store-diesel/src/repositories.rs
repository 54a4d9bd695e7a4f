//! One file an aggregate: its row, the row's way to and from the domain, its queries.
//!
//! A change to a row that is not there changes nothing; the use cases read what they change in the same transaction.
//!
//! Look-ups by a unique key have no LIMIT (`get_result`, not `first`): SQLite plans a statement anew whenever a value is
//! bound to its LIMIT, which costs several times the look-up.

mod audit;
mod bank_feed;
mod card_batches;
mod card_refs;
mod card_row;
mod cards;
mod categories;
mod closed_month_row;
mod credentials;
mod employees;
mod events;
mod idempotency;
mod jobs;
mod leavers;
mod ledger;
mod look_ups;
mod movement_reference;
mod movements;
mod orders;
mod partners;
mod pending_deposits;
mod programmes;
mod reconciliation;
mod reports;
mod request_log;
mod runs;
mod sealed_nonces;
mod sessions;
mod throttle;
mod transactions;
pub(crate) mod users;
mod webhooks;

use diesel::QueryResult;
use kopeck_port_store::StoreError;
use kopeck_port_store::page::{Listed, Page};

use crate::convert::natural;
use crate::error::{Stored, StoredRows};
use crate::statements::{self, Bind};
use crate::transaction::DieselTransaction;
use crate::transaction::locks::Lock;

/// The columns LIMIT and OFFSET of a page. A page starts at 499,999,999,500 at most.
fn window(page: Page) -> (i64, i64) {
    (i64::from(page.size()), page.skip().cast_signed())
}

/// The numbers on a page of a numbered list, oldest first: after the first, up to the second.
fn ascending(page: Page) -> (i64, i64) {
    let (size, skip) = window(page);
    (skip, skip + size)
}

/// The numbers on a page of a numbered list of `total`, newest first: after the first, up to the second.
fn descending(page: Page, total: i64) -> (i64, i64) {
    let (size, skip) = window(page);
    (total - skip - size, total - skip)
}

/// A page of a list of `total`, from its rows.
fn listed<R, T>(
    total: i64,
    rows: QueryResult<Vec<R>>,
    value: impl Fn(R) -> Result<T, StoreError>,
) -> Result<Listed<T>, StoreError> {
    Ok(Listed { items: rows.all(value)?, total: natural(total, "counters.last")? })
}

impl DieselTransaction {
    /// Changes rows that have served their time, `limit` at most: those of `old`, which says in which table and order, by
    /// which index, and with one value what old is. `key`: the columns of its primary key.
    fn sweep(
        &mut self,
        change: &str,
        key: &str,
        old: &str,
        before: impl Copy + Into<Bind<'static>>,
        limit: u32,
    ) -> Result<u32, StoreError> {
        let mut left = limit;
        while left > 0 {
            // The literal tells the planner that they are few, so that it looks up each.
            let most = left.min(statements::UPDATE_CHUNK);
            let text = format!("{change} WHERE ({key}) IN (SELECT {key} FROM {old} LIMIT {most})");
            let connection = self.owning(Lock::Sweep)?;
            let rows = statements::execute(connection, &text, vec![before.into()]).stored()?;
            let rows = u32::try_from(rows).unwrap_or(most);
            left -= rows;
            if rows < most {
                break;
            }
        }
        Ok(limit - left)
    }
}
