//! Chains of entries.

use std::fmt;
use std::str::FromStr;

use time::OffsetDateTime;

use crate::digest::Digest;
use crate::encoding::Bytes;
use crate::{Entry, Signature};
use kopeck_domain::Invalid;

/// The beginning of a chain. The openings are a chain themselves: each covers the one before, so that no chain between two
/// others goes unnoticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The chain: 1, 2, 3 …, without a gap.
    pub chain: u64,
    /// When its first entry was written, by the machine's own time.
    pub opened_at: OffsetDateTime,
    /// Over all that and the opening before; the first entry of the chain covers it in turn.
    pub hash: Digest,
}

/// How far a chain goes. Its text is `CHAIN:NUMBER:HASH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The chain.
    pub chain: u64,
    /// Its last entry, counted from 1; 0 if it has none.
    pub number: u64,
    /// The hash of that entry; of a chain without any, that of its opening.
    pub hash: Digest,
}

/// An entry in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The entry.
    pub entry: Entry,
    /// The chain as far as this entry.
    pub head: Head,
    /// Over the head. Entries that were written before there were signatures have none.
    pub signature: Option<Signature>,
}

impl Opening {
    /// The one after `previous`, or the first of all.
    #[must_use]
    pub fn after(previous: Option<&Self>, opened_at: OffsetDateTime) -> Self {
        let chain = previous.map_or(0, |previous| previous.chain).saturating_add(1);
        Self { chain, opened_at, hash: Self::hash_of(previous, chain, opened_at) }
    }

    /// Whether it is as it was written, right after `previous`.
    #[must_use]
    pub fn follows(&self, previous: Option<&Self>) -> bool {
        *self == Self::after(previous, self.opened_at)
    }

    /// The chain without an entry.
    #[must_use]
    pub fn head(&self) -> Head {
        Head { chain: self.chain, number: 0, hash: self.hash }
    }

    fn hash_of(previous: Option<&Self>, chain: u64, opened_at: OffsetDateTime) -> Digest {
        let mut bytes = Bytes::of("opening");
        bytes.fixed(previous.map_or(&[0; 32], |previous| previous.hash.as_bytes()));
        bytes.number(chain);
        bytes.moment(opened_at);
        Digest::of(bytes.as_slice())
    }
}

impl Head {
    /// The chain with one entry more.
    #[must_use]
    pub fn next(&self, entry: &Entry) -> Self {
        let (chain, number) = (self.chain, self.number.saturating_add(1));
        let mut bytes = Bytes::of("entry");
        bytes.fixed(self.hash.as_bytes());
        bytes.number(chain);
        bytes.number(number);
        bytes.entry(entry);
        Self { chain, number, hash: Digest::of(bytes.as_slice()) }
    }
}

impl Record {
    /// Whether it is as it was written, right after `head`.
    #[must_use]
    pub fn follows(&self, head: &Head) -> bool {
        self.head == head.next(&self.entry)
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.chain, self.number, self.hash)
    }
}

impl FromStr for Head {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || Invalid::new("must have the form CHAIN:NUMBER:HASH");
        let mut parts = text.splitn(3, ':');
        let mut part = || parts.next().ok_or_else(wrong);
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        Ok(Self { chain: number(part()?)?, number: number(part()?)?, hash: part()?.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Actor, KeyDigest, Outcome};
    use uuid::Uuid;

    const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn entry() -> Entry {
        Entry::new(START, "127.0.0.1", "employee.add")
    }

    fn record(head: &Head, action: &'static str) -> Record {
        let entry = Entry::new(START, "127.0.0.1", action);
        Record { head: head.next(&entry), entry, signature: None }
    }

    fn chain() -> (Head, Vec<Record>) {
        let start = Opening::after(None, START).head();
        let mut records: Vec<Record> = Vec::new();
        for action in ["a", "b", "c", "d"] {
            let head = records.last().map_or(&start, |last| &last.head);
            records.push(record(head, action));
        }
        (start, records)
    }

    /// Whether each record follows the one before.
    fn holds(start: &Head, records: &[Record]) -> bool {
        let mut head = start;
        records.iter().all(|record| {
            let follows = record.follows(head);
            head = &record.head;
            follows
        })
    }

    #[test]
    fn an_entry_that_is_removed_or_put_elsewhere_breaks_the_chain() {
        let (start, records) = chain();
        assert!(holds(&start, &records));
        for place in 0..3 {
            let mut cut = records.clone();
            cut.remove(place);
            assert!(!holds(&start, &cut), "without {place}");
            let mut turned = records.clone();
            turned.swap(place, place + 1);
            assert!(!holds(&start, &turned), "{place} after the next");
        }
        let other = Opening::after(Some(&Opening::after(None, START)), START).head();
        assert!(!holds(&other, &records), "in another chain");
        // A chain that was cut at its end still verifies: only its head differs.
        assert!(holds(&start, &records[..3]));
        assert_ne!(records[2].head, records[3].head);
    }

    #[test]
    fn every_field_is_covered() {
        let head = Opening::after(None, START).head();
        let changes: [fn(&mut Entry); 12] = [
            |entry| entry.at += time::Duration::MICROSECOND,
            |entry| entry.actor = Actor::Partner(None),
            |entry| entry.actor = Actor::Operator(String::new()),
            |entry| entry.partner = Some(Uuid::nil().into()),
            |entry| entry.source.push('1'),
            |entry| entry.action = "employee.update".into(),
            |entry| entry.subject.push('1'),
            |entry| entry.request_id = Some(String::new()),
            |entry| entry.key = Some(KeyDigest::from_bytes([0; 16])),
            |entry| entry.sealed = true,
            |entry| entry.outcome = Outcome::Refused,
            |entry| entry.status = Some(200),
        ];
        for (place, change) in changes.into_iter().enumerate() {
            let mut changed = entry();
            change(&mut changed);
            assert_ne!(head.next(&changed), head.next(&entry()), "{place}");
        }
        let coded = Entry { code: Some("internal".into()), ..entry() };
        assert_ne!(head.next(&coded), head.next(&entry()));
    }

    #[test]
    fn openings_follow_one_another() {
        let first = Opening::after(None, START);
        let second = Opening::after(Some(&first), START);
        let third = Opening::after(Some(&second), START);
        assert_eq!([first.chain, second.chain, third.chain], [1, 2, 3]);
        assert!(first.follows(None) && second.follows(Some(&first)) && third.follows(Some(&second)));
        assert!(!third.follows(Some(&first)) && !second.follows(None));
        let moved = Opening { opened_at: START + time::Duration::SECOND, ..second };
        assert!(!moved.follows(Some(&first)) && !third.follows(Some(&Opening { hash: first.hash, ..moved })));
    }

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let (_, records) = chain();
        let head = records[3].head.clone();
        let text = head.to_string();
        assert!(text.starts_with("1:4:"), "{text}");
        assert_eq!(text.parse::<Head>(), Ok(head));
        for wrong in ["", "1", "1:4", "1:x:00", "-1:4:00", "1:4:00"] {
            assert!(wrong.parse::<Head>().is_err(), "{wrong}");
        }
    }

    /// Every later version has to verify stored entries: this text must never change.
    #[test]
    fn hashes_stay_what_they_are() {
        let opening = Opening::after(None, START);
        let head = opening.head().next(&Entry {
            actor: Actor::Partner(Some(Uuid::from_u128(2).into())),
            partner: Some(Uuid::from_u128(1).into()),
            subject: "employee:00000000-0000-0000-0000-000000000003".to_owned(),
            request_id: Some("r-1".to_owned()),
            key: Some(KeyDigest::from_bytes([7; 16])),
            sealed: true,
            status: Some(200),
            ..entry()
        });
        assert_eq!(head.to_string(), "1:1:eb13ef82c5bc2d02b55f7dcb27a3b2a22bb51fd04890fa6ca7d91ed599eff75b");
    }
}
