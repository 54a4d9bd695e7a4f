//! An audit log in memory, for tests to lay hands on.

use std::sync::{Arc, Mutex};

use kopeck_audit::{Entry, Head, Mark, MarkKind, Opening, Record, Statement};
use kopeck_port_store::AuditSigner;
use kopeck_port_store::mock::{FakeSigner, InPlaceStore, MockUnit};
use time::OffsetDateTime;

pub(super) const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// What is stored.
#[derive(Clone, Default)]
pub(super) struct Log {
    pub(super) openings: Vec<Opening>,
    pub(super) records: Vec<Record>,
    pub(super) marks: Vec<Mark>,
}

/// Signs under key 1.
pub(super) fn signer() -> Arc<dyn AuditSigner> {
    Arc::new(FakeSigner(vec![1]))
}

pub(super) fn mark(signer: &dyn AuditSigner, kind: MarkKind, head: Head) -> Mark {
    let signature = signer.sign(&head.signed_bytes(Statement::Mark(kind)));
    Mark { kind, head, signature }
}

impl Log {
    /// Begins a chain and adds so many entries, a second apart, with a checkpoint at the end if they are signed.
    pub(super) fn with_chain(mut self, length: u64, signer: Option<&dyn AuditSigner>) -> Self {
        let opening = Opening::after(self.openings.last(), START);
        let chain = opening.chain;
        self.openings.push(opening);
        self.extend(chain, length, signer);
        self
    }

    /// Adds entries to a chain.
    pub(super) fn extend(&mut self, chain: u64, length: u64, signer: Option<&dyn AuditSigner>) {
        let opening = self.openings.iter().find(|opening| opening.chain == chain).unwrap().head();
        let last = self.records.iter().rfind(|record| record.head.chain == chain);
        let mut head = last.map_or(opening, |last| last.head.clone());
        for _ in 0..length {
            let at = START + time::Duration::seconds(head.number.cast_signed());
            let entry = Entry::new(at, "127.0.0.1", format!("action-{}", head.number));
            head = head.next(&entry);
            let signature = signer.map(|signer| signer.sign(&head.signed_bytes(Statement::Entry)));
            self.records.push(Record { entry, head: head.clone(), signature });
        }
        if let Some(signer) = signer {
            self.put(mark(signer, MarkKind::Checkpoint, head));
        }
    }

    pub(super) fn put(&mut self, mark: Mark) {
        self.marks.retain(|other| (other.kind, other.head.chain) != (mark.kind, mark.head.chain));
        self.marks.push(mark);
    }

    /// The place of an entry among the records.
    pub(super) fn place(&self, chain: u64, number: u64) -> usize {
        let wanted = |record: &Record| (record.head.chain, record.head.number) == (chain, number);
        self.records.iter().position(wanted).unwrap()
    }

    /// Recomputes the hashes of a chain, as an intruder with the database but no key can; signatures stay.
    pub(super) fn hash_anew(&mut self, chain: u64) {
        let mut head = self.openings.iter().find(|opening| opening.chain == chain).unwrap().head();
        for record in self.records.iter_mut().filter(|record| record.head.chain == chain) {
            head = head.next(&record.entry);
            record.head = head.clone();
        }
    }
}

/// A store over the log.
pub(super) fn store(log: &Arc<Mutex<Log>>) -> InPlaceStore<MockUnit> {
    let mut unit = MockUnit::default();
    let log = || Arc::clone(log);
    let last = log();
    unit.audit.expect_last_chain_in_use().returning(move || {
        Ok(last.lock().unwrap().records.iter().map(|record| record.head.chain).max().unwrap_or(0))
    });
    let openings = log();
    unit.audit.expect_openings().returning(move |after, limit| {
        let log = openings.lock().unwrap();
        let wanted = log.openings.iter().filter(|opening| opening.chain > after);
        Ok(wanted.take(limit as usize).cloned().collect())
    });
    let records = log();
    unit.audit.expect_records().returning(move |chain, after, limit| {
        let log = records.lock().unwrap();
        let wanted =
            log.records.iter().filter(|record| record.head.chain == chain && record.head.number > after);
        Ok(wanted.take(limit as usize).cloned().collect())
    });
    let last = log();
    unit.audit.expect_last_record().returning(move |chain| {
        Ok(last.lock().unwrap().records.iter().rfind(|record| record.head.chain == chain).cloned())
    });
    let marks = log();
    unit.audit.expect_marks().returning(move |chain| {
        let log = marks.lock().unwrap();
        Ok(log.marks.iter().filter(|mark| mark.head.chain == chain).cloned().collect())
    });
    let put = log();
    unit.audit.expect_put_mark().returning(move |mark| {
        put.lock().unwrap().put(mark.clone());
        Ok(())
    });
    let pruned = log();
    unit.audit.expect_prune().returning(move |beginning| {
        let mut log = pruned.lock().unwrap();
        let before = log.records.len();
        let Head { chain, number, .. } = beginning.head;
        log.records.retain(|record| record.head.chain != chain || record.head.number > number);
        log.put(beginning.clone());
        Ok((before - log.records.len()) as u64)
    });
    InPlaceStore::new(unit)
}
