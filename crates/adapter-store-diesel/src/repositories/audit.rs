//! The audit log.

use diesel::dsl::max;
use diesel::prelude::*;
use kopeck_audit::{Entry, Head, Mark, Opening, Record};
use kopeck_port_store::{Access, AuditFilter, AuditRepository, StoreError};

use crate::audit_chain::marks::{last_marked_chain, marks, put_mark};
use crate::audit_chain::rows::{OpeningRow, RecordRow, last_record};
use crate::connection::MultiBackend;
use crate::convert::{AsKey, natural};
use crate::error::{Stored, StoredRows};
use crate::schema::{audit_chains, audit_entries};
use crate::sql_types::UtcTimestamp;
use crate::statements::{self, binds};
use crate::transaction::DieselTransaction;

/// The entries that fit `filter`.
fn filtered(filter: &AuditFilter) -> audit_entries::BoxedQuery<'_, MultiBackend> {
    // Named in any case, so that every database goes by the index.
    let since = filter.since.map_or(UtcTimestamp(i64::MIN), UtcTimestamp::of);
    let mut query = audit_entries::table.filter(audit_entries::at.ge(since)).into_boxed();
    if let Some(until) = filter.until {
        query = query.filter(audit_entries::at.lt(UtcTimestamp::of(until)));
    }
    if let Some(partner) = filter.partner {
        query = query.filter(audit_entries::partner.eq(partner.key()));
    }
    if let Some(action) = &filter.action {
        query = query.filter(audit_entries::action.eq(action));
    }
    if let Some(outcome) = filter.outcome {
        query = query.filter(audit_entries::outcome.eq(outcome.as_str()));
    }
    query
}

impl AuditRepository for DieselTransaction {
    fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        match self.access() {
            Access::Write => {
                self.audit.add(entry.clone());
                Ok(())
            }
            Access::Read => Err(StoreError::Failed("a reading unit of work cannot write".to_owned())),
        }
    }

    fn list(&mut self, filter: &AuditFilter, limit: u32) -> Result<Vec<Record>, StoreError> {
        filtered(filter)
            .order((audit_entries::at.desc(), audit_entries::chain.desc(), audit_entries::number.desc()))
            .limit(i64::from(limit))
            .select(RecordRow::as_select())
            .load(self.unlocked()?)
            .all(RecordRow::record)
    }

    fn openings(&mut self, after: u64, limit: u32) -> Result<Vec<Opening>, StoreError> {
        audit_chains::table
            .filter(audit_chains::chain.gt(after.cast_signed()))
            .order(audit_chains::chain)
            .limit(i64::from(limit))
            .select(OpeningRow::as_select())
            .load(self.unlocked()?)
            .all(OpeningRow::opening)
    }

    fn records(&mut self, chain: u64, after: u64, limit: u32) -> Result<Vec<Record>, StoreError> {
        audit_entries::table
            .filter(audit_entries::chain.eq(chain.cast_signed()))
            .filter(audit_entries::number.gt(after.cast_signed()))
            .order(audit_entries::number)
            .limit(i64::from(limit))
            .select(RecordRow::as_select())
            .load(self.unlocked()?)
            .all(RecordRow::record)
    }

    fn last_record(&mut self, chain: u64) -> Result<Option<Record>, StoreError> {
        last_record(self.unlocked()?, chain)
    }

    fn marks(&mut self, chain: u64) -> Result<Vec<Mark>, StoreError> {
        marks(self.unlocked()?, chain)
    }

    fn put_mark(&mut self, mark: &Mark) -> Result<(), StoreError> {
        put_mark(self.unlocked()?, mark).stored()
    }

    fn prune(&mut self, beginning: &Mark) -> Result<u64, StoreError> {
        let connection = self.unlocked()?;
        put_mark(connection, beginning).stored()?;
        let Head { chain, number, .. } = &beginning.head;
        let text = "DELETE FROM audit_entries WHERE chain = ? AND number <= ?";
        let values = binds![chain.cast_signed(), number.cast_signed()];
        let removed = statements::execute(connection, text, values).stored()?;
        Ok(removed as u64)
    }

    fn last_chain_in_use(&mut self) -> Result<u64, StoreError> {
        let connection = self.unlocked()?;
        let last: Option<i64> =
            audit_entries::table.select(max(audit_entries::chain)).get_result(connection).stored()?;
        let last: u64 = natural(last.unwrap_or(0), "audit_entries.chain")?;
        Ok(last.max(last_marked_chain(connection)?))
    }
}
