//! The audit log: one chain, as there is one writer.

use std::cmp::Reverse;

use kopeck_domain::audit::{Entry, Head, Opening, Record};
use kopeck_port_store::{AuditFilter, AuditRepository, StoreError};
use time::OffsetDateTime;

use super::{Unit, amount};

/// When the chain begins does not matter to anybody.
fn opening() -> Opening {
    Opening::after(None, OffsetDateTime::UNIX_EPOCH)
}

fn fits(entry: &Entry, filter: &AuditFilter) -> bool {
    let AuditFilter { since, until, partner, action, outcome } = filter;
    since.is_none_or(|since| entry.at >= since)
        && until.is_none_or(|until| entry.at < until)
        && partner.is_none_or(|partner| entry.partner == Some(partner))
        && action.as_ref().is_none_or(|action| entry.action == *action)
        && outcome.is_none_or(|outcome| entry.outcome == outcome)
}

impl AuditRepository for Unit {
    fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let log = &mut self.writing()?.audit;
        let head: Head = log.last().map_or_else(|| opening().head(), |last| last.head.clone());
        log.push(Record { entry: entry.clone(), head: head.next(entry) });
        Ok(())
    }

    fn list(&mut self, filter: &AuditFilter, limit: u32) -> Result<Vec<Record>, StoreError> {
        let mut found: Vec<Record> =
            self.state.audit.iter().filter(|record| fits(&record.entry, filter)).cloned().collect();
        found.sort_by_key(|record| Reverse((record.entry.at, record.head.number)));
        found.truncate(amount(limit));
        Ok(found)
    }

    fn openings(&mut self, after: u64, limit: u32) -> Result<Vec<Opening>, StoreError> {
        let is_there = !self.state.audit.is_empty() && after == 0 && limit > 0;
        Ok(is_there.then(opening).into_iter().collect())
    }

    fn records(&mut self, chain: u64, after: u64, limit: u32) -> Result<Vec<Record>, StoreError> {
        let wanted = |record: &&Record| record.head.chain == chain && record.head.number > after;
        Ok(self.state.audit.iter().filter(wanted).take(amount(limit)).cloned().collect())
    }

    fn last_chain_in_use(&mut self) -> Result<u64, StoreError> {
        Ok(self.state.audit.last().map_or(0, |record| record.head.chain))
    }
}
