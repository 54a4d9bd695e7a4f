//! The place in the bank's feed.

use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{BankFeedRepository, BankFeedState, StoreError};

use crate::convert::AsKey;
use crate::error::Stored;
use crate::schema::bank_feed;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds};
use crate::transaction::DieselTransaction;
use crate::transaction::locks::Lock;

/// The row of the feed.
#[derive(Queryable, Selectable)]
#[diesel(table_name = bank_feed)]
struct BankFeedRow {
    cursor: i64,
    forgotten_at: Option<UtcTimestamp>,
    lease_owner: Option<Id>,
    leased_until: Option<UtcTimestamp>,
}

impl BankFeedRow {
    fn state(self) -> Result<BankFeedState, StoreError> {
        let until = UtcTimestamp::optional(self.leased_until, "bank_feed.leased_until")?;
        Ok(BankFeedState {
            cursor: self.cursor,
            forgotten_at: UtcTimestamp::optional(self.forgotten_at, "bank_feed.forgotten_at")?,
            lease: self.lease_owner.map(|owner| owner.0).zip(until),
        })
    }
}

impl BankFeedRepository for DieselTransaction {
    fn state(&mut self) -> Result<BankFeedState, StoreError> {
        let row: BankFeedRow = bank_feed::table
            .find(1)
            .select(BankFeedRow::as_select())
            .get_result(self.owning(Lock::BankFeed)?)
            .stored()?;
        row.state()
    }

    fn set_state(&mut self, state: &BankFeedState) -> Result<(), StoreError> {
        let (owner, until) = state.lease.map(|(owner, until)| (Id(owner), UtcTimestamp::of(until))).unzip();
        let text = "UPDATE bank_feed SET cursor = ?, forgotten_at = ?, lease_owner = ?, leased_until = ?
            WHERE id = 1";
        let values = binds![state.cursor, state.forgotten_at.map(UtcTimestamp::of), owner, until];
        statements::execute(self.owning(Lock::BankFeed)?, text, values).done()
    }

    fn record_decline(&mut self, partner: PartnerId, seq: i64) -> Result<bool, StoreError> {
        let text = "INSERT INTO bank_declines (partner_id, seq) VALUES (?, ?) ON CONFLICT DO NOTHING";
        let rows = statements::execute(self.of(partner)?, text, binds![partner.key(), seq]).stored()?;
        Ok(rows > 0)
    }

    fn forget_declines(&mut self, seq: i64) -> Result<(), StoreError> {
        let text = "DELETE FROM bank_declines WHERE seq <= ?";
        statements::execute(self.owning(Lock::BankFeed)?, text, binds![seq]).done()
    }
}
