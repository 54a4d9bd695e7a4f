//! A card batch: one request over many cards, which the bank decides card by card.
//!
//! Top-ups, limit changes, closings and withdrawals are card batches. What the kinds differ in is in their [`BatchKind`].

mod state;

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

use time::OffsetDateTime;
use uuid::Uuid;

pub use self::state::BatchState;
use crate::Kopecks;
use crate::card_number::CardNumber;
use crate::event::{EventData, RequestStatus};
use crate::fields::fields;
use crate::ids::CardId;
use crate::invalid::Invalid;
use crate::request::RequestReference;

/// The greatest number of cards in one batch.
pub const MAX_CARDS: usize = 10_000;

/// A kind of card batch.
pub trait BatchKind: Debug + Clone + Copy + PartialEq + Eq + Send + Sync + 'static {
    /// Identifies a batch.
    type Id: Debug
        + Display
        + Clone
        + Copy
        + PartialEq
        + Eq
        + Hash
        + From<Uuid>
        + Into<Uuid>
        + Send
        + Sync
        + 'static;
    /// What the batch says for all of its cards.
    type Terms: Debug + Clone + PartialEq + Eq + Send + Sync + 'static;
    /// What it says for one card.
    type ItemTerms: Debug + Clone + Copy + PartialEq + Eq + Send + Sync + 'static;
    /// Why the bank or the service refused a card.
    type Refusal: Debug
        + Clone
        + Copy
        + PartialEq
        + Eq
        + FromStr<Err = Invalid>
        + Into<&'static str>
        + Send
        + Sync
        + 'static;

    /// The event of a batch of which `status` tells.
    fn status_event(status: RequestStatus<Self::Id, BatchState>) -> EventData;

    /// Whether a batch with these terms can be cancelled while it is new.
    #[must_use]
    fn is_cancellable(_: &Self::Terms) -> bool {
        true
    }
}

/// A request over many cards, decided card by card.
///
/// Only its verbs change it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "BatchFields<K>",
        bound(
            serialize = "BatchFields<K>: serde::Serialize",
            deserialize = "BatchFields<K>: serde::Deserialize<'de>"
        )
    )
)]
pub struct CardBatch<K: BatchKind>(BatchFields<K>);

/// The batch that the fields describe.
impl<K: BatchKind> TryFrom<BatchFields<K>> for CardBatch<K> {
    type Error = Invalid;

    fn try_from(stored: BatchFields<K>) -> Result<Self, Invalid> {
        let cards = usize::try_from(stored.cards).unwrap_or(usize::MAX);
        if !(1..=MAX_CARDS).contains(&cards) {
            return Err(Invalid::new(format!("a batch must have 1 to {MAX_CARDS} cards")));
        }
        Ok(Self(stored))
    }
}

fields! {
    /// The fields of a card batch.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(
        feature = "serde",
        serde(bound(
            serialize = "K::Id: serde::Serialize, K::Terms: serde::Serialize",
            deserialize = "K::Id: serde::Deserialize<'de>, K::Terms: serde::Deserialize<'de>"
        ))
    )]
    BatchFields of CardBatch<K: BatchKind> {
        /// The service's identifier.
        id: K::Id,
        /// How many cards.
        cards: u32,
        /// What it says for all of its cards.
        terms: K::Terms as &K::Terms,
        /// Kopecks that came back from its cards so far.
        #[cfg_attr(feature = "serde", serde(default))]
        returned: Kopecks,
        /// Where it stands.
        state: BatchState,
        /// When it was accepted.
        #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
        created_at: OffsetDateTime,
        /// When it last changed its state.
        #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
        state_since: OffsetDateTime,
        /// What the partner calls it.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        reference: Option<RequestReference> as Option<&RequestReference>,
    }
}

impl<K: BatchKind> CardBatch<K> {
    /// A new batch; `cards` is the number of its cards.
    #[must_use]
    pub const fn new(id: K::Id, cards: u32, terms: K::Terms, now: OffsetDateTime) -> Self {
        Self(BatchFields {
            id,
            cards,
            terms,
            returned: Kopecks::ZERO,
            state: BatchState::New,
            created_at: now,
            state_since: now,
            reference: None,
        })
    }

    /// The same under the partner's own reference.
    #[must_use]
    pub fn with_reference(self, reference: Option<RequestReference>) -> Self {
        Self(BatchFields { reference, ..self.0 })
    }

    /// The event of the state that it has reached.
    #[must_use]
    pub fn status_event(&self) -> EventData {
        K::status_event(RequestStatus {
            id: self.id(),
            state: self.state(),
            reference: self.reference().cloned(),
        })
    }
}

/// One card of a batch: a plain record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "K::ItemTerms: serde::Serialize, K::Refusal: serde::Serialize",
        deserialize = "K::ItemTerms: serde::Deserialize<'de>, K::Refusal: serde::Deserialize<'de>"
    ))
)]
pub struct BatchItem<K: BatchKind> {
    /// Its place in the batch, from 0.
    pub ordinal: u32,
    /// The card.
    pub card: CardId,
    /// The bank's number of the card.
    pub number: CardNumber,
    /// What the batch says for this card.
    pub terms: K::ItemTerms,
    /// What became of it.
    pub state: ItemState<K::Refusal>,
}

/// What became of one card of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ItemState<R> {
    /// Not decided yet.
    Open,
    /// Carried out.
    Done,
    /// Carried out; the kopecks that the card returned.
    Returned(Kopecks),
    /// Not carried out; the card is as it was.
    Refused(R),
}

impl<R> ItemState<R> {
    /// Why the card was refused, if it was.
    #[must_use]
    pub fn refusal(self) -> Option<R> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Open | Self::Done | Self::Returned(_) => None,
        }
    }

    /// The amount returned from the card. `None` unless it was carried out and its kind returns money.
    #[must_use]
    pub fn returned(self) -> Option<Kopecks> {
        match self {
            Self::Returned(amount) => Some(amount),
            Self::Open | Self::Done | Self::Refused(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closing::{Closing, ClosingTerms};
    use crate::ids::ClosingId;
    use uuid::Uuid;

    fn batch(cards: u32) -> Closing {
        let id = ClosingId::new(Uuid::from_u128(1));
        Closing::new(id, cards, ClosingTerms { is_urgent: false }, OffsetDateTime::UNIX_EPOCH)
    }

    #[test]
    fn a_batch_has_a_card_and_not_too_many() {
        let most = u32::try_from(MAX_CARDS).unwrap();
        let read = |cards| CardBatch::try_from(batch(cards).into_fields());
        assert_eq!([1, most].map(read), [1, most].map(|cards| Ok(batch(cards))));
        assert!([0, most + 1].map(read).iter().all(Result::is_err));
    }

    #[test]
    fn a_batch_keeps_the_partners_reference() {
        let reference = RequestReference::parse("payroll 2026-02").ok();
        assert!(reference.is_some());
        assert_eq!(batch(1).with_reference(reference.clone()).reference(), reference.as_ref());
        assert_eq!(batch(1).with_reference(None).reference(), None);
    }

    #[test]
    fn only_a_refused_card_has_a_refusal() {
        assert_eq!(ItemState::Refused("blocked").refusal(), Some("blocked"));
        let others = [ItemState::<&str>::Open, ItemState::Done, ItemState::Returned(Kopecks::ZERO)];
        assert_eq!(others.map(ItemState::refusal), [None; 3]);
        assert_eq!(others.map(ItemState::returned), [None, None, Some(Kopecks::ZERO)]);
        assert_eq!(ItemState::Refused("blocked").returned(), None);
    }
}
