//! The audit log: one chain, as there is one writer.

use std::cmp::Reverse;

use kopeck_audit::{Entry, Head, Mark, MarkKind, Opening, Record};
use kopeck_port_store::{AuditFilter, AuditRepository, StoreError};
use time::OffsetDateTime;

use super::{Unit, amount};

/// The beginning of the chain has no effect.
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
        let state = self.writing()?;
        let begins = state.audit_marks.iter().find(|mark| mark.kind == MarkKind::Beginning);
        let head: Head = match (state.audit.last(), begins) {
            (Some(last), _) => last.head.clone(),
            (None, Some(mark)) => mark.head.clone(),
            (None, None) => opening().head(),
        };
        state.audit.push(Record { entry: entry.clone(), head: head.next(entry), signature: None });
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
        let is_in_use = !self.state.audit.is_empty() || !self.state.audit_marks.is_empty();
        let is_there = is_in_use && after == 0 && limit > 0;
        Ok(is_there.then(opening).into_iter().collect())
    }

    fn records(&mut self, chain: u64, after: u64, limit: u32) -> Result<Vec<Record>, StoreError> {
        let wanted = |record: &&Record| record.head.chain == chain && record.head.number > after;
        Ok(self.state.audit.iter().filter(wanted).take(amount(limit)).cloned().collect())
    }

    fn last_record(&mut self, chain: u64) -> Result<Option<Record>, StoreError> {
        Ok(self.state.audit.last().filter(|record| record.head.chain == chain).cloned())
    }

    fn marks(&mut self, chain: u64) -> Result<Vec<Mark>, StoreError> {
        Ok(self.state.audit_marks.iter().filter(|mark| mark.head.chain == chain).cloned().collect())
    }

    fn put_mark(&mut self, mark: &Mark) -> Result<(), StoreError> {
        let marks = &mut self.writing()?.audit_marks;
        let same = |other: &&mut Mark| (other.kind, other.head.chain) == (mark.kind, mark.head.chain);
        match marks.iter_mut().find(same) {
            Some(other) if other.head.number <= mark.head.number => *other = mark.clone(),
            Some(_) => {}
            None => marks.push(mark.clone()),
        }
        Ok(())
    }

    fn prune(&mut self, beginning: &Mark) -> Result<u64, StoreError> {
        self.put_mark(beginning)?;
        let log = &mut self.writing()?.audit;
        let before = log.len();
        log.retain(|record| {
            record.head.chain != beginning.head.chain || record.head.number > beginning.head.number
        });
        Ok((before - log.len()) as u64)
    }

    fn last_chain_in_use(&mut self) -> Result<u64, StoreError> {
        let entries = self.state.audit.iter().map(|record| record.head.chain);
        Ok(entries.chain(self.state.audit_marks.iter().map(|mark| mark.head.chain)).max().unwrap_or(0))
    }
}
