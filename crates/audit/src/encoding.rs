//! The bytes that stand for an entry: no two entries have the same.
//!
//! Every field comes in one fixed order, a text with its length before it, and what may be absent with a byte that says
//! whether it is there. A change here needs a new [`FORM`], and the old one has to be kept for what is stored.

use time::OffsetDateTime;

use crate::{Actor, Entry};

/// Domain separation: the prefix of everything that is hashed.
const FORM: &[u8] = b"kopeck audit 1";

/// The bytes as they grow.
pub(crate) struct Bytes(Vec<u8>);

impl Bytes {
    /// For something of this kind.
    pub(crate) fn of(kind: &str) -> Self {
        let mut bytes = Self(Vec::with_capacity(384));
        bytes.0.extend_from_slice(FORM);
        bytes.text(kind);
        bytes
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    pub(crate) fn moment(&mut self, at: OffsetDateTime) {
        // Microseconds, as they are stored; every moment that there is fits.
        self.0.extend_from_slice(&at.unix_timestamp_nanos().div_euclid(1_000).to_be_bytes());
    }

    pub(crate) fn fixed<const N: usize>(&mut self, bytes: &[u8; N]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// Every field of `entry`.
    pub(crate) fn entry(&mut self, entry: &Entry) {
        let Entry {
            at,
            actor,
            partner,
            source,
            action,
            subject,
            request_id,
            key,
            sealed,
            outcome,
            status,
            code,
        } = entry;
        self.moment(*at);
        self.text(actor.kind());
        match actor {
            Actor::Unknown | Actor::Service => {}
            Actor::Partner(pair) => self.maybe(*pair, |bytes, pair| bytes.fixed(pair.uuid().as_bytes())),
            Actor::Credential(id, pair) => {
                self.fixed(id.uuid().as_bytes());
                self.maybe(*pair, |bytes, pair| bytes.fixed(pair.uuid().as_bytes()));
            }
            Actor::User(id) => self.fixed(id.uuid().as_bytes()),
            Actor::Operator(user) => self.text(user),
        }
        self.maybe(*partner, |bytes, partner| bytes.fixed(partner.uuid().as_bytes()));
        self.text(source);
        self.text(action);
        self.text(subject);
        self.maybe(request_id.as_deref(), Self::text);
        self.maybe(*key, |bytes, key| bytes.fixed(key.as_bytes()));
        self.flag(*sealed);
        self.text(outcome.as_str());
        self.maybe(*status, |bytes, status| bytes.number(status.into()));
        self.maybe(code.as_deref(), Self::text);
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::{KeyDigest, Outcome};

    /// Texts and numbers out of few, so that many entries have their letters in common and differ by the borders alone.
    fn entries() -> impl Strategy<Value = Entry> {
        let text = || "a{0,2}";
        let actor = prop_oneof![
            Just(Actor::Unknown),
            option::of(0..2_u128).prop_map(|id| Actor::Partner(id.map(|id| Uuid::from_u128(id).into()))),
            (0..2_u128, option::of(0..2_u128)).prop_map(|(id, pair)| {
                Actor::Credential(Uuid::from_u128(id).into(), pair.map(|id| Uuid::from_u128(id).into()))
            }),
            (0..2_u128).prop_map(|id| Actor::User(Uuid::from_u128(id).into())),
            Just(Actor::Service),
            text().prop_map(Actor::Operator),
        ];
        let partner = option::of((0..2_u128).prop_map(|id| Uuid::from_u128(id).into()));
        let who = (0..2_i64, actor, partner, text(), text(), text(), option::of(text()));
        let key = option::of((0..2_u8).prop_map(|byte| KeyDigest::from_bytes([byte; 16])));
        let outcome = (0..Outcome::ALL.len()).prop_map(|place| Outcome::ALL[place]);
        let what = (key, any::<bool>(), outcome, option::of(0..2_u16), option::of(text()));
        (who, what).prop_map(|(who, what)| {
            let (seconds, actor, partner, source, action, subject, request_id) = who;
            let (key, sealed, outcome, status, code) = what;
            let at = OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(seconds);
            let (action, code) = (action.into(), code.map(Into::into));
            #[rustfmt::skip]
            let entry = Entry {
                at, actor, partner, source, action, subject, request_id, key, sealed, outcome, status, code,
            };
            entry
        })
    }

    fn bytes(entry: &Entry) -> Vec<u8> {
        let mut bytes = Bytes::of("entry");
        bytes.entry(entry);
        bytes.0
    }

    proptest! {
        #[test]
        fn different_entries_have_different_bytes(one in entries(), other in entries()) {
            prop_assert_eq!(one == other, bytes(&one) == bytes(&other));
        }

        #[test]
        fn a_letter_that_moves_to_the_next_field_shows(entry in entries()) {
            let mut moved = entry.clone();
            if let Some(letter) = moved.source.pop() {
                moved.action.to_mut().insert(0, letter);
                prop_assert_ne!(bytes(&entry), bytes(&moved));
            }
        }

        /// So the data behind an entry cannot be parsed as a part of it.
        #[test]
        fn no_entry_begins_with_another(one in entries(), other in entries()) {
            prop_assert!(one == other || !bytes(&one).starts_with(&bytes(&other)));
        }
    }
}
