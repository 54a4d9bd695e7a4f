//! Dense numbers for lists whose rows are never deleted.

use std::collections::BTreeMap;

use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Rule, StoreError};

use crate::connection::AnyConnection;
use crate::convert::AsKey;
use crate::error::Stored;
use crate::schema::counters;
use crate::sql_types::Id;
use crate::statements::{self, Bind, RawStatement, binds};
use crate::transaction::DieselTransaction;
use crate::transaction::loader::BatchLoad;
use crate::transaction::write_buffer::BufferedRow;

kopeck_domain::string_enum! {
    /// A numbered list of a partner.
    List {
        Categories = "categories",
        Employees = "employees",
        Cards = "cards",
        Orders = "orders",
        Replenishments = "replenishments",
        LimitChanges = "limit_changes",
        Closings = "closings",
        Withdrawals = "withdrawals",
        /// Transactions of all cards.
        Transactions = "transactions",
        /// Events, whose rows are deleted once they have expired: their numbers are dense all the same.
        Events = "events",
        /// The number of the last event that was deleted.
        ExpiredEvents = "expired_events",
    }
}

/// Starts a new partner's lists.
pub(crate) fn start(connection: &mut AnyConnection, partner: Id) -> Result<(), StoreError> {
    let text = "INSERT INTO counters (partner_id, list, last) VALUES (?, ?, 0)";
    List::ALL
        .iter()
        .try_for_each(|list| statements::execute(connection, text, binds![partner, list.as_str()]).done())
}

impl DieselTransaction {
    /// The last number given out; `None` if there is no such partner.
    pub(crate) fn last_number(&mut self, partner: PartnerId, list: List) -> Result<Option<i64>, StoreError> {
        self.load(partner, LastNumber(list))
    }

    /// The number for the next row. It is given out by [`give_out`](Self::give_out), after the row was inserted: an
    /// insert that a constraint refuses then leaves no gap, even if the unit of work goes on.
    pub(crate) fn next_number(&mut self, partner: PartnerId, list: List) -> Result<i64, StoreError> {
        let last = self.last_number(partner, list);
        if last == Err(StoreError::Rerun) {
            // Most new rows have their event in the same unit of work, so its number is loaded together with theirs.
            let _ = self.last_number(partner, List::Events);
        }
        Ok(last?.ok_or(StoreError::Conflict(Rule::Reference))? + 1)
    }

    /// Gives out the numbers up to `last`.
    pub(crate) fn give_out(&mut self, partner: PartnerId, list: List, last: i64) -> Result<(), StoreError> {
        let key = partner.key();
        if let Some(pending) = self.pending(partner)? {
            pending.add(NewNumber { partner: key, list, last });
            self.remember(partner, LastNumber(list), Some(last));
            return Ok(());
        }
        let text = "UPDATE counters SET last = ? WHERE partner_id = ? AND list = ?";
        self.change(partner, text, binds![last, key, list.as_str()])
    }
}

/// A number that is given out and not in its table yet.
struct NewNumber {
    partner: Id,
    list: List,
    last: i64,
}

const ADVANCE: &str = "
    UPDATE counters c SET last = n.last
    FROM unnest(?, ?, ?) AS n (partner_id, list, last)
    WHERE c.partner_id = n.partner_id AND c.list = n.list";

impl BufferedRow for NewNumber {
    fn insert_many(rows: &[Self], connection: &mut AnyConnection) -> QueryResult<()> {
        // The last of each list holds.
        let last: BTreeMap<_, _> = rows.iter().map(|row| ((row.partner, row.list), row.last)).collect();
        let rows = last.into_iter().map(|((partner, list), last)| binds![partner, list.as_str(), last]);
        let columns = statements::columns(rows);
        RawStatement::new(ADVANCE, columns).execute(connection.postgres()?).map(drop)
    }
}

/// The last number given out in a list.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct LastNumber(List);

#[derive(QueryableByName)]
#[diesel(table_name = counters)]
pub(crate) struct LastRow {
    last: i64,
}

impl BatchLoad for LastNumber {
    type Loaded = Option<i64>;
    type Row = LastRow;

    const SELECT: &'static str = "SELECT last FROM counters WHERE partner_id = ? AND list = ?";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, self.0.as_str()]
    }

    fn of_rows(rows: Vec<LastRow>) -> Result<Option<i64>, StoreError> {
        Ok(rows.first().map(|row| row.last))
    }
}
