use std::sync::Mutex;

use kopeck_port_store::mock::FakeSigner;
use time::Duration;

use super::super::testing::{self, Log, START, signer};
use super::super::{ChainViolation, VerifyError, verify};
use super::*;

fn shared(log: Log) -> Arc<Mutex<Log>> {
    Arc::new(Mutex::new(log))
}

fn violation(
    log: &Arc<Mutex<Log>>,
    signer: &dyn AuditSigner,
    accept_unsigned: u64,
) -> Option<ChainViolation> {
    match verify(&testing::store(log), Some(signer), &[], accept_unsigned) {
        Ok(_) => None,
        Err(VerifyError::Broken(violation)) => Some(violation),
        Err(VerifyError::Store(error)) => panic!("{error}"),
    }
}

#[test]
fn pruning_removes_what_is_older_from_the_beginning_of_each_chain() {
    let signer = signer();
    // The entries of a chain are a second apart.
    let log = shared(Log::default().with_chain(2_500, Some(&*signer)).with_chain(3, Some(&*signer)));
    let before = START + Duration::seconds(2_100);
    assert_eq!(prune(&testing::store(&log), &signer, before), Ok(2_103));
    let verified = verify(&testing::store(&log), Some(&*signer), &[], 0).unwrap();
    assert_eq!((verified.entries, verified.pruned), (400, 2_103));
    assert_eq!(log.lock().unwrap().records[0].entry.at, before);
    assert_eq!(prune(&testing::store(&log), &signer, before), Ok(0));
    let later = before + Duration::seconds(10);
    assert_eq!(prune(&testing::store(&log), &signer, later), Ok(10));
    assert_eq!(violation(&log, &*signer, 0), None);
}

/// An entry that stands behind a later one stays until that one goes: a chain has no gaps.
#[test]
fn pruning_stops_at_the_first_entry_that_is_not_older() {
    let signer = signer();
    let mut odd = Log::default().with_chain(3, Some(&*signer));
    odd.records[1].entry.at += Duration::days(1);
    let log = shared(odd);
    assert_eq!(prune(&testing::store(&log), &signer, START + Duration::HOUR), Ok(1));
}

#[test]
fn no_entry_depends_on_a_former_key_after_its_signatures_were_renewed() {
    let old = signer();
    // Unsigned entries come before all signed ones.
    let first = Log::default().with_chain(4, None);
    let mut legacy = first.with_chain(5, Some(&*old)).with_chain(3, Some(&*old));
    // The last entries stand after the checkpoint.
    let marks = legacy.marks.clone();
    legacy.extend(2, 2, Some(&*old));
    legacy.marks = marks;
    let log = shared(legacy);
    assert_eq!(prune(&testing::store(&log), &old, START + Duration::SECOND), Ok(3));
    let [both, new] = [vec![2, 1], vec![2]].map(FakeSigner);
    assert!(matches!(violation(&log, &new, 3), Some(ChainViolation::UnknownKey { .. })));
    let both: Arc<dyn AuditSigner> = Arc::new(both);
    assert_eq!(renew_signatures(&testing::store(&log), &both), Ok(Vec::new()));
    assert_eq!(violation(&log, &new, 3), None);
    assert!(log.lock().unwrap().marks.iter().all(|mark| new.is_current(&mark.signature)));
}

#[test]
fn a_chain_without_a_valid_signature_is_not_signed_anew() {
    let old = signer();
    let both: Arc<dyn AuditSigner> = Arc::new(FakeSigner(vec![2, 1]));
    let whole = || Log::default().with_chain(3, Some(&*old)).with_chain(3, Some(&*old));
    let mut forged_mark = whole();
    forged_mark.marks[0].signature.code = [0; 32];
    let mut forged_end = whole();
    forged_end.records[2].entry.source.push('1');
    forged_end.hash_anew(1);
    let mut cut = whole();
    cut.records.remove(2);
    // Another last entry, validly signed, than the one that the checkpoint vouches for.
    let mut replaced = whole();
    replaced.records[2].entry.source.push('1');
    replaced.hash_anew(1);
    let signature = old.sign(&replaced.records[2].head.signed_bytes(Statement::Entry));
    replaced.records[2].signature = Some(signature);
    for broken in [forged_mark, forged_end, cut, replaced] {
        let log = shared(broken);
        assert_eq!(renew_signatures(&testing::store(&log), &both), Ok(vec![1]));
        assert!(violation(&log, &*both, 0).is_some());
    }
}
