use kopeck_domain::audit::{Entry, Record};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use time::OffsetDateTime;

use super::*;

const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// What is stored.
#[derive(Clone)]
struct Log {
    openings: Vec<Opening>,
    records: Vec<Record>,
}

/// Chains of so many entries each.
fn log(lengths: &[u64]) -> Log {
    let mut log = Log { openings: Vec::new(), records: Vec::new() };
    for length in lengths {
        let opening = Opening::after(log.openings.last(), START);
        let mut head = opening.head();
        log.openings.push(opening);
        for number in 0..*length {
            let entry = Entry::new(START, "127.0.0.1", format!("action-{number}"));
            head = head.next(&entry);
            log.records.push(Record { entry, head: head.clone() });
        }
    }
    log
}

impl Log {
    fn verify(&self, noted: &[Head]) -> Result<Verified, Breach> {
        let mut unit = MockUnit::default();
        let Self { openings, records } = self.clone();
        let last = records.iter().map(|record| record.head.chain).max().unwrap_or(0);
        unit.audit.expect_last_chain_in_use().returning(move || Ok(last));
        unit.audit.expect_openings().returning(move |after, limit| {
            let wanted = openings.iter().filter(|opening| opening.chain > after);
            Ok(wanted.take(limit as usize).cloned().collect())
        });
        unit.audit.expect_records().returning(move |chain, after, limit| {
            let wanted =
                records.iter().filter(|record| record.head.chain == chain && record.head.number > after);
            Ok(wanted.take(limit as usize).cloned().collect())
        });
        verify(&InPlaceStore::new(unit), noted).map_err(|error| match error {
            VerifyError::Broken(breach) => breach,
            VerifyError::Store(error) => panic!("{error}"),
        })
    }

    /// The place of an entry among the records.
    fn place(&self, chain: u64, number: u64) -> usize {
        let wanted = |record: &Record| (record.head.chain, record.head.number) == (chain, number);
        self.records.iter().position(wanted).unwrap()
    }
}

#[test]
fn a_log_as_it_was_written_is_whole() {
    assert_eq!(log(&[]).verify(&[]), Ok(Verified { entries: 0, heads: Vec::new() }));
    let whole = log(&[3, 1, 2_500]);
    let verified = whole.verify(&[]).unwrap();
    assert_eq!((verified.entries, verified.heads.len()), (2_504, 3));
    assert_eq!(verified.heads[2].number, 2_500);
    assert!(whole.verify(&verified.heads).is_ok());
    let earlier = whole.records[whole.place(3, 7)].head.clone();
    assert!(whole.verify(&[earlier.clone(), earlier, whole.openings[1].head()]).is_ok());
}

#[test]
fn what_was_changed_is_found() {
    let mut changed = log(&[3, 3]);
    let place = changed.place(2, 2);
    changed.records[place].entry.source = "10.0.0.1".to_owned();
    assert_eq!(changed.verify(&[]), Err(Breach::Entry { chain: 2, number: 2 }));
    let mut moved = log(&[3, 3]);
    moved.openings[0].opened_at += time::Duration::SECOND;
    assert_eq!(moved.verify(&[]), Err(Breach::Opening { chain: 1 }));
}

#[test]
fn what_was_removed_is_found() {
    for (chain, number) in [(1, 1), (1, 2), (2, 1)] {
        let mut cut = log(&[3, 1, 1]);
        cut.records.remove(cut.place(chain, number));
        assert_eq!(cut.verify(&[]), Err(Breach::EntryGone { chain, number }));
    }
    let mut cut = log(&[3, 3, 3]);
    cut.openings.remove(1);
    assert_eq!(cut.verify(&[]), Err(Breach::Opening { chain: 2 }));
    let mut cut = log(&[3, 3, 3]);
    cut.openings.pop();
    assert_eq!(cut.verify(&[]), Err(Breach::OpeningGone { chain: 3 }));
}

#[test]
fn entries_that_changed_places_are_found() {
    let mut turned = log(&[3]);
    let (one, two) = (turned.records[0].entry.clone(), turned.records[1].entry.clone());
    (turned.records[0].entry, turned.records[1].entry) = (two, one);
    assert_eq!(turned.verify(&[]), Err(Breach::Entry { chain: 1, number: 1 }));
}

#[test]
fn an_end_that_was_cut_off_is_found_by_a_head() {
    let whole = log(&[3, 2]);
    let heads = whole.verify(&[]).unwrap().heads;
    let mut cut = whole.clone();
    cut.records.remove(whole.place(1, 3));
    assert!(cut.verify(&[]).is_ok());
    assert_eq!(cut.verify(&heads), Err(Breach::Shorter(heads[0].clone())));
    // The whole of the last chain is gone.
    let mut cut = whole;
    cut.records.truncate(3);
    cut.openings.pop();
    assert!(cut.verify(&[]).is_ok());
    assert_eq!(cut.verify(&heads), Err(Breach::Shorter(heads[1].clone())));
}

#[test]
fn a_log_that_was_written_anew_is_found_by_a_head() {
    let heads = log(&[3]).verify(&[]).unwrap().heads;
    let mut anew = Log { openings: log(&[3]).openings, records: Vec::new() };
    let mut head = anew.openings[0].head();
    for number in 0..3 {
        let entry = Entry::new(START, "127.0.0.1", format!("other-{number}"));
        head = head.next(&entry);
        anew.records.push(Record { entry, head: head.clone() });
    }
    assert!(anew.verify(&[]).is_ok());
    assert_eq!(anew.verify(&heads), Err(Breach::Rewritten(head)));
}
