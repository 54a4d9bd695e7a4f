use std::sync::{Arc, Mutex};

use kopeck_audit::{Entry, Mark, Record, Signature, Statement};
use kopeck_port_store::mock::FakeSigner;

use super::super::testing::{self, Log, START, mark, signer};
use super::*;

/// Chains of so many signed entries each.
fn log(lengths: &[u64]) -> Log {
    lengths.iter().fold(Log::default(), |log, length| log.with_chain(*length, Some(&*signer())))
}

impl Log {
    fn verify_accepting(
        &self,
        accept_unsigned: u64,
        signer: Option<&dyn AuditSigner>,
        noted: &[Head],
    ) -> Result<VerificationReport, ChainViolation> {
        let store = testing::store(&Arc::new(Mutex::new(self.clone())));
        verify(&store, signer, noted, accept_unsigned).map_err(|error| match error {
            VerifyError::Broken(violation) => violation,
            VerifyError::Store(error) => panic!("{error}"),
        })
    }

    fn verify_by(
        &self,
        signer: Option<&dyn AuditSigner>,
        noted: &[Head],
    ) -> Result<VerificationReport, ChainViolation> {
        self.verify_accepting(0, signer, noted)
    }

    fn verify(&self, noted: &[Head]) -> Result<VerificationReport, ChainViolation> {
        self.verify_by(Some(&*signer()), noted)
    }

    /// Removes the entries up to this one, and leaves a mark.
    fn prune(&mut self, chain: u64, number: u64) {
        let head = self.records[self.place(chain, number)].head.clone();
        self.records.retain(|record| record.head.chain != chain || record.head.number > number);
        self.put(mark(&*signer(), MarkKind::Beginning, head));
    }
}

#[test]
fn a_log_as_it_was_written_is_whole() {
    assert_eq!(log(&[]).verify(&[]), Ok(VerificationReport::default()));
    let whole = log(&[3, 1, 2_500]);
    let verified = whole.verify(&[]).unwrap();
    assert_eq!((verified.entries, verified.unsigned, verified.heads.len()), (2_504, 0, 3));
    assert_eq!(verified.heads[2].number, 2_500);
    assert!(whole.verify(&verified.heads).is_ok());
    let earlier = whole.records[whole.place(3, 7)].head.clone();
    assert!(whole.verify(&[earlier.clone(), earlier, whole.openings[1].head()]).is_ok());
    assert_eq!(whole.verify_by(None, &[]), Ok(verified));
}

#[test]
fn changed_entries_are_found() {
    let mut changed = log(&[3, 3]);
    let place = changed.place(2, 2);
    changed.records[place].entry.source = "10.0.0.1".to_owned();
    for signer in [None, Some(&*signer())] {
        assert_eq!(changed.verify_by(signer, &[]), Err(ChainViolation::Entry { chain: 2, number: 2 }));
    }
    let mut moved = log(&[3, 3]);
    moved.openings[0].opened_at += time::Duration::SECOND;
    assert_eq!(moved.verify(&[]), Err(ChainViolation::Opening { chain: 1 }));
}

/// An intruder with the database but no key recomputes every hash, and cannot sign.
#[test]
fn hashes_that_were_computed_anew_are_found_by_the_signatures() {
    let mut anew = log(&[3, 3]);
    let place = anew.place(2, 2);
    anew.records[place].entry.source = "10.0.0.1".to_owned();
    anew.hash_anew(2);
    assert_eq!(anew.verify(&[]), Err(ChainViolation::Signature { chain: 2, number: 2 }));
    // Without the signatures it does not look like a log of old either.
    let mut bare = anew.clone();
    bare.records.iter_mut().filter(|r| r.head.chain == 2).for_each(|record| record.signature = None);
    bare.marks.retain(|mark| mark.head.chain != 2);
    assert_eq!(bare.verify(&[]), Err(ChainViolation::Unsigned { chain: 2, number: 1 }));
    // Nor under a key of their own.
    let forger = FakeSigner(vec![66]);
    for record in anew.records.iter_mut().filter(|record| record.head.chain == 2) {
        record.signature = Some(forger.sign(&record.head.signed_bytes(Statement::Entry)));
    }
    let end = anew.records.last().unwrap().head.clone();
    anew.marks.retain(|mark| mark.head.chain != 2);
    assert_eq!(anew.verify(&[]), Err(ChainViolation::MarkGone { chain: 2 }));
    anew.put(mark(&forger, MarkKind::Checkpoint, end));
    assert_eq!(anew.verify(&[]), Err(ChainViolation::UnknownKey { chain: 2, number: 3 }));
}

#[test]
fn removed_entries_are_found() {
    for (chain, number) in [(1, 1), (1, 2), (2, 1)] {
        let mut cut = log(&[3, 1, 1]);
        cut.records.remove(cut.place(chain, number));
        assert_eq!(cut.verify(&[]), Err(ChainViolation::EntryGone { chain, number }));
    }
    let mut cut = log(&[3, 3, 3]);
    cut.openings.remove(1);
    assert_eq!(cut.verify(&[]), Err(ChainViolation::Opening { chain: 2 }));
    let mut cut = log(&[3, 3, 3]);
    cut.openings.pop();
    assert_eq!(cut.verify(&[]), Err(ChainViolation::OpeningGone { chain: 3 }));
}

#[test]
fn entries_that_changed_places_are_found() {
    let mut turned = log(&[3]);
    let (one, two) = (turned.records[0].entry.clone(), turned.records[1].entry.clone());
    (turned.records[0].entry, turned.records[1].entry) = (two, one);
    assert_eq!(turned.verify(&[]), Err(ChainViolation::Entry { chain: 1, number: 1 }));
}

#[test]
fn an_end_that_was_cut_off_is_found_by_the_checkpoint() {
    let mut cut = log(&[3, 2]);
    let end = cut.records.remove(cut.place(1, 3)).head;
    assert_eq!(cut.verify(&[]), Err(ChainViolation::Cut(end.clone())));
    assert_eq!(cut.verify(std::slice::from_ref(&end)), Err(ChainViolation::Cut(end)), "no copy is like this");
    // An attacker cannot make one that stands earlier, and may not leave it out.
    let earlier = cut.records[cut.place(1, 2)].head.clone();
    cut.put(mark(&FakeSigner(vec![66]), MarkKind::Checkpoint, earlier));
    assert_eq!(cut.verify(&[]), Err(ChainViolation::UnknownKey { chain: 1, number: 2 }));
    let place = cut.marks.iter().position(|mark| mark.head.chain == 1).unwrap();
    cut.marks[place].signature.key = [1; 8];
    assert_eq!(cut.verify(&[]), Err(ChainViolation::Mark { chain: 1, kind: MarkKind::Checkpoint }));
    cut.marks.remove(place);
    assert_eq!(cut.verify(&[]), Err(ChainViolation::MarkGone { chain: 1 }));
}

/// With a copy of an earlier checkpoint, or where the whole of the last chain is gone, only a head from elsewhere tells.
#[test]
fn an_end_that_was_cut_off_is_found_by_a_head() {
    let whole = log(&[3, 2]);
    let heads = whole.verify(&[]).unwrap().heads;
    let mut cut = whole.clone();
    cut.records.remove(whole.place(1, 3));
    cut.put(mark(&*signer(), MarkKind::Checkpoint, whole.records[whole.place(1, 2)].head.clone()));
    assert!(cut.verify(&[]).is_ok());
    assert_eq!(cut.verify(&heads), Err(ChainViolation::Shorter(heads[0].clone())));
    let mut cut = whole;
    cut.records.truncate(3);
    cut.openings.pop();
    assert!(cut.verify(&[]).is_ok());
    assert_eq!(cut.verify(&heads), Err(ChainViolation::Shorter(heads[1].clone())));
}

#[test]
fn a_log_that_was_written_anew_is_found_by_a_head() {
    let unsigned = |length| Log::default().with_chain(length, None);
    let heads = unsigned(3).verify_by(None, &[]).unwrap().heads;
    let mut anew = Log { openings: unsigned(3).openings, ..Log::default() };
    let mut head = anew.openings[0].head();
    for number in 0..3 {
        let entry = Entry::new(START, "127.0.0.1", format!("other-{number}"));
        head = head.next(&entry);
        anew.records.push(Record { entry, head: head.clone(), signature: None });
    }
    assert!(anew.verify_by(None, &[]).is_ok());
    assert_eq!(anew.verify_by(None, &heads), Err(ChainViolation::Rewritten(head)));
}

/// An intruder with write access can remove signatures with the marks, from any chain or from all.
#[test]
fn a_chain_without_signatures_is_found() {
    let strip = |chains: &[u64]| {
        let mut bare = log(&[3, 2, 4]);
        let is_stripped = |chain: u64| chains.contains(&chain);
        bare.records.iter_mut().filter(|r| is_stripped(r.head.chain)).for_each(|r| r.signature = None);
        bare.marks.retain(|mark| !is_stripped(mark.head.chain));
        bare
    };
    for chains in [&[1][..], &[2], &[3], &[1, 2], &[1, 2, 3]] {
        let first = ChainViolation::Unsigned { chain: chains[0], number: 1 };
        assert_eq!(strip(chains).verify(&[]), Err(first), "{chains:?}");
    }
    // The first chain is pruned as a whole, so that no signed entry is before the second.
    let mut pruned = strip(&[2]);
    pruned.prune(1, 3);
    assert_eq!(pruned.verify(&[]), Err(ChainViolation::Unsigned { chain: 2, number: 1 }));
}

#[test]
fn entries_from_before_there_were_signatures_are_accepted_by_their_number() {
    let mut old = Log::default().with_chain(4, None).with_chain(2, None).with_chain(3, Some(&*signer()));
    let accepting = |log: &Log, number| log.verify_accepting(number, Some(&*signer()), &[]);
    let verified = accepting(&old, 6).unwrap();
    assert_eq!((verified.entries, verified.unsigned), (9, 6));
    assert_eq!(accepting(&old, 5), Err(ChainViolation::Unsigned { chain: 1, number: 1 }));
    // One more is too many, wherever it is.
    old = old.with_chain(1, None);
    assert_eq!(accepting(&old, 6), Err(ChainViolation::Unsigned { chain: 1, number: 1 }));
    let mut tail = log(&[2]);
    tail.extend(1, 2, None);
    assert_eq!(tail.verify(&[]), Err(ChainViolation::Unsigned { chain: 1, number: 3 }));
    tail.extend(1, 1, Some(&*signer()));
    assert_eq!(tail.verify(&[]).map(|verified| verified.unsigned), Ok(0), "the signed entry covers them");
}

#[test]
fn former_keys_are_accepted_as_long_as_something_vouches_for_them() {
    let mut rotated = log(&[2]);
    let [both, new] = [vec![2, 1], vec![2]].map(FakeSigner);
    assert!(rotated.verify_by(Some(&both), &[]).is_ok());
    assert_eq!(rotated.verify_by(Some(&new), &[]), Err(ChainViolation::UnknownKey { chain: 1, number: 2 }));
    rotated.extend(1, 2, Some(&both));
    assert!(rotated.verify_by(Some(&new), &[]).is_ok(), "a later entry is signed under the new key");
}

#[test]
fn a_pruned_chain_begins_at_its_mark() {
    let whole = log(&[1_500, 3]);
    let heads = whole.verify(&[]).unwrap().heads;
    let early = whole.records[4].head.clone();
    let mut pruned = whole.clone();
    pruned.prune(1, 1_200);
    pruned.prune(2, 3);
    let verified = pruned.verify(&[heads.clone(), vec![early]].concat()).unwrap();
    assert_eq!((verified.entries, verified.pruned), (300, 1_203));
    assert_eq!(verified.heads, heads, "what was noted of pruned entries cannot be looked at any more");
    assert!(pruned.verify_by(None, &[]).is_ok());
    let mut changed = pruned.clone();
    changed.records[0].entry.source.push('1');
    assert_eq!(changed.verify(&[]), Err(ChainViolation::Entry { chain: 1, number: 1_201 }));
}

#[test]
fn a_missing_beginning_needs_a_mark_that_is_signed() {
    let mut cut = log(&[5]);
    let beginning = cut.records[1].head.clone();
    cut.records.drain(..2);
    assert_eq!(cut.verify(&[]), Err(ChainViolation::EntryGone { chain: 1, number: 1 }));
    let forged = mark(&FakeSigner(vec![66]), MarkKind::Beginning, beginning.clone());
    cut.put(forged.clone());
    assert_eq!(cut.verify(&[]), Err(ChainViolation::UnknownKey { chain: 1, number: 2 }));
    let renamed = Mark { signature: Signature { key: [1; 8], ..forged.signature }, ..forged };
    cut.put(renamed);
    assert_eq!(cut.verify(&[]), Err(ChainViolation::Mark { chain: 1, kind: MarkKind::Beginning }));
    // A checkpoint's signature does not sign a beginning at the same entry.
    let checkpoint = mark(&*signer(), MarkKind::Checkpoint, beginning);
    cut.put(Mark { kind: MarkKind::Beginning, ..checkpoint });
    assert_eq!(cut.verify(&[]), Err(ChainViolation::Mark { chain: 1, kind: MarkKind::Beginning }));
    // A true mark does not cover what is missing after it.
    let mut cut = log(&[5]);
    cut.prune(1, 2);
    cut.records.remove(0);
    assert_eq!(cut.verify(&[]), Err(ChainViolation::EntryGone { chain: 1, number: 3 }));
}
