//! The audit log.

use std::sync::mpsc;

use kopeck_audit::{
    Actor, Digest, Entry, Head, KeyDigest, Mark, MarkKind, Opening, Outcome, Record, Signature,
};
use kopeck_domain::ids::PartnerId;
use time::Duration;

use super::support::{at, id, read, write};
use crate::{Access, AuditFilter, Store, StoreError, submit, transact};

fn entry(action: &str) -> Entry {
    Entry::new(at(0), "127.0.0.1", action.to_owned())
}

fn append(store: &dyn Store, entry: &Entry) {
    let entry = entry.clone();
    write(store, move |unit| unit.audit().append(&entry)).unwrap();
}

fn list(store: &dyn Store, filter: AuditFilter) -> Vec<Record> {
    read(store, move |unit| unit.audit().list(&filter, 1_000))
}

fn actions(store: &dyn Store, filter: AuditFilter) -> Vec<String> {
    list(store, filter).into_iter().map(|record| record.entry.action.into_owned()).collect()
}

/// Every entry, chain by chain, after it was made sure that each follows the one before.
fn verified(store: &dyn Store) -> Vec<Entry> {
    let openings = read(store, |unit| unit.audit().openings(0, 1_000));
    let mut previous: Option<&Opening> = None;
    let mut entries = Vec::new();
    for opening in &openings {
        assert!(opening.follows(previous), "{opening:?}");
        previous = Some(opening);
        let (chain, mut head) = (opening.chain, opening.head());
        for record in read(store, move |unit| unit.audit().records(chain, 0, 1_000)) {
            assert!(record.follows(&head), "{record:?}");
            head = record.head;
            entries.push(record.entry);
        }
        assert!(head.number > 0, "a chain is opened for an entry");
    }
    let last = read(store, |unit| unit.audit().last_chain_in_use());
    assert_eq!(last, openings.last().map_or(0, |opening| opening.chain));
    entries
}

/// Of every actor.
pub fn an_entry_is_read_as_it_was_appended(store: &dyn Store) {
    assert_eq!(verified(store), []);
    let full = Entry {
        actor: Actor::Partner(Some(id())),
        partner: Some(id()),
        subject: "employee:7 card:8".to_owned(),
        request_id: Some("r-1".to_owned()),
        key: Some(KeyDigest::from_bytes([9; 16])),
        sealed: true,
        outcome: Outcome::Refused,
        status: Some(409),
        code: Some("card_in_request".into()),
        ..entry("card.link")
    };
    let plain = Entry { actor: Actor::Partner(None), ..entry("token.access") };
    let operator = Entry { actor: Actor::Operator("кассир".to_owned()), ..entry("partner.create") };
    let [credential, bare, user, service] = [
        Actor::Credential(id(), Some(id())),
        Actor::Credential(id(), None),
        Actor::User(id()),
        Actor::Service,
    ]
    .map(|actor| Entry { actor, partner: Some(id()), ..entry("card.link") });
    let entries = [full, plain, operator, credential, bare, user, service, entry("token.access")];
    for entry in &entries {
        append(store, entry);
    }
    assert_eq!(verified(store), entries);
}

/// What is undone leaves no entry, and no gap.
pub fn an_entry_is_committed_with_its_unit_of_work(store: &dyn Store) {
    let lost = entry("lost");
    let refused = transact(store, Access::Write, move |unit| {
        unit.audit().append(&lost)?;
        Err::<(), _>(StoreError::Failed("on purpose".to_owned()))
    });
    assert!(refused.is_err());
    let read_only = entry("read");
    let refused = transact(store, Access::Read, move |unit| unit.audit().append(&read_only));
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    append(store, &entry("kept"));
    assert_eq!(verified(store), [entry("kept")]);
}

/// Though some of them are undone.
pub fn entries_of_many_units_stand_in_one_chain_after_the_other(store: &dyn Store) {
    let (free, held) = mpsc::channel::<()>();
    let (sender, receiver) = mpsc::channel();
    let answer = || {
        let sender = sender.clone();
        move |result: Result<(), StoreError>| sender.send(result.is_ok()).unwrap()
    };
    // While this one runs the others gather.
    let wait = move |_: &mut dyn crate::UnitOfWork| {
        let _ = held.recv();
        Ok(())
    };
    let wanted: Vec<Entry> = (0..90).map(|number| entry(&format!("a-{number}"))).collect();
    std::thread::scope(|scope| {
        // A store without threads of its own comes back from this only after the work is done.
        scope.spawn(|| submit(store, Access::Write, wait, answer()));
        // No message: what is run again must not wait for another.
        drop(free);
        for (number, entry) in wanted.iter().cloned().enumerate() {
            let body = move |unit: &mut dyn crate::UnitOfWork| {
                unit.audit().append(&entry)?;
                if number % 3 == 2 { Err(StoreError::Failed("on purpose".to_owned())) } else { Ok(()) }
            };
            submit(store, Access::Write, body, answer());
        }
    });
    let answers: Vec<bool> = receiver.iter().take(91).collect();
    assert_eq!(answers.iter().filter(|done| **done).count(), 61);
    let mut kept: Vec<String> = verified(store).into_iter().map(|entry| entry.action.into_owned()).collect();
    kept.sort_unstable();
    let mut expected: Vec<String> =
        (0..90).filter(|number| number % 3 != 2).map(|number| format!("a-{number}")).collect();
    expected.sort_unstable();
    assert_eq!(kept, expected);
}

/// Each part of the filter has to fit.
pub fn the_latest_entries_come_first(store: &dyn Store) {
    let partner: PartnerId = id();
    let entries = [
        Entry { partner: Some(partner), ..entry("one") },
        Entry { at: at(10), outcome: Outcome::Refused, ..entry("two") },
        Entry { at: at(20), partner: Some(partner), outcome: Outcome::Refused, ..entry("three") },
        Entry { at: at(20), partner: Some(id()), ..entry("one") },
    ];
    for entry in &entries {
        append(store, entry);
    }
    let all = AuditFilter::default;
    assert_eq!(actions(store, all()), ["one", "three", "two", "one"]);
    let limited = read(store, move |unit| unit.audit().list(&all(), 2));
    assert_eq!(limited.len(), 2);
    let of_partner = || AuditFilter { partner: Some(partner), ..AuditFilter::default() };
    assert_eq!(actions(store, of_partner()), ["three", "one"]);
    let refused = AuditFilter { outcome: Some(Outcome::Refused), ..of_partner() };
    assert_eq!(actions(store, refused), ["three"]);
    let (since, until) = (Some(at(10)), Some(at(20)));
    assert_eq!(actions(store, AuditFilter { since, until, ..all() }), ["two"]);
    assert_eq!(list(store, AuditFilter { action: Some("one".to_owned()), ..all() }).len(), 2);
    let later = AuditFilter { since: Some(at(20) + Duration::MICROSECOND), ..all() };
    assert_eq!(actions(store, later), [""; 0]);
}

/// In pages, as it is verified.
pub fn a_chain_is_read_in_pieces(store: &dyn Store) {
    let pair = [entry("one"), entry("two")];
    // In one unit of work, so that they stand in one chain.
    let both = pair.clone();
    write(store, move |unit| both.iter().try_for_each(|entry| unit.audit().append(entry))).unwrap();
    let opening = read(store, |unit| unit.audit().openings(0, 1)).remove(0);
    assert!(read(store, move |unit| unit.audit().openings(1, 9)).is_empty());
    let mut head: Head = opening.head();
    for expected in pair {
        let (chain, after) = (head.chain, head.number);
        let piece = read(store, move |unit| unit.audit().records(chain, after, 1));
        assert!(piece.len() == 1 && piece[0].follows(&head) && piece[0].entry == expected, "{piece:?}");
        head = piece[0].head.clone();
    }
    assert!(read(store, move |unit| unit.audit().records(head.chain, head.number, 9)).is_empty());
}

fn mark(kind: MarkKind, head: Head, key: u8) -> Mark {
    Mark { kind, head, signature: Signature { key: [key; 8], code: [7; 32] } }
}

/// And goes on where it was.
pub fn a_chain_is_pruned_up_to_its_mark(store: &dyn Store) {
    let entries = ["one", "two", "three"].map(entry);
    write(store, move |unit| entries.iter().try_for_each(|entry| unit.audit().append(entry))).unwrap();
    let records = read(store, |unit| unit.audit().records(1, 0, 9));
    let last = read(store, |unit| unit.audit().last_record(1));
    assert_eq!(last.as_ref(), records.last());
    assert_eq!(read(store, |unit| unit.audit().last_record(2)), None);
    let beginning = mark(MarkKind::Beginning, records[1].head.clone(), 1);
    let asked = beginning.clone();
    assert_eq!(write(store, move |unit| unit.audit().prune(&asked)), Ok(2));
    assert_eq!(read(store, |unit| unit.audit().marks(1)), std::slice::from_ref(&beginning));
    assert_eq!(read(store, |unit| unit.audit().records(1, 0, 9)), records[2..]);
    assert_eq!(actions(store, AuditFilter::default()), ["three"]);
    let rest = mark(MarkKind::Beginning, records[2].head.clone(), 1);
    let asked = rest.clone();
    assert_eq!(write(store, move |unit| unit.audit().prune(&asked)), Ok(1));
    assert_eq!(read(store, |unit| unit.audit().marks(1)), [rest]);
    assert_eq!(read(store, |unit| unit.audit().last_record(1)), None);
    assert_eq!(read(store, |unit| unit.audit().last_chain_in_use()), 1);
    // A reader prunes nothing.
    let asked = beginning;
    assert!(transact(store, Access::Read, move |unit| unit.audit().prune(&asked)).is_err());
    append(store, &entry("four"));
    let next = read(store, |unit| unit.audit().records(1, 0, 9));
    if let [next] = &next[..] {
        assert!(next.follows(&records[2].head), "the chain goes on: {next:?}");
    }
}

/// It may be signed anew where it stands.
pub fn a_mark_never_moves_back(store: &dyn Store) {
    append(store, &entry("one"));
    let at = |number, key| {
        let head = Head { chain: 1, number, hash: Digest::from_bytes([key; 32]) };
        mark(MarkKind::Checkpoint, head, key)
    };
    let put = |mark: &Mark| {
        let mark = mark.clone();
        write(store, move |unit| unit.audit().put_mark(&mark))
    };
    let marks = || read(store, |unit| unit.audit().marks(1));
    assert_eq!(marks(), []);
    for mark in [at(3, 1), at(3, 2), at(5, 2)] {
        put(&mark).unwrap();
        assert_eq!(marks(), [mark]);
    }
    // Whether it is refused or passed over.
    let _ = put(&at(4, 1));
    assert_eq!(marks(), [at(5, 2)]);
    let beginning = mark(MarkKind::Beginning, at(2, 1).head, 1);
    put(&beginning).unwrap();
    let mut both = marks();
    both.sort_by_key(|mark| mark.kind);
    assert_eq!(both, [beginning, at(5, 2)]);
    assert_eq!(read(store, |unit| unit.audit().marks(2)), []);
}
