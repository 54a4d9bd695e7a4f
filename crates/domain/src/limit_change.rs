//! Limit changes: one limit for many cards in one request, each card for itself.

use time::OffsetDateTime;

use crate::card_number::CardNumber;
use crate::ids::{CardId, LimitChangeId};
use crate::limit::Limit;
use crate::request::{RequestEvent, RequestKind, RequestState, TransitionError};
use crate::string_enum::string_enum;

pub use crate::request::conclusion;

/// The greatest number of cards in one request.
pub const MAX_CARDS: usize = 10_000;

string_enum! {
    /// Why the limit of a card was not changed.
    LimitChangeRefusal {
        /// The bank blocks the card.
        Blocked = "BLOCKED",
        /// The card has expired.
        Expired = "EXPIRED",
        /// The card is not activated.
        NotActivated = "NOT_ACTIVATED",
        /// The bank refused for another reason.
        RefusedByBank = "REFUSED_BY_BANK",
    }
}

impl LimitChangeRefusal {
    /// The text of `errorLimit`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Blocked => "the card is blocked by the bank",
            Self::Expired => "the card has expired",
            Self::NotActivated => "the card is not activated",
            Self::RefusedByBank => "refused by the bank",
        }
    }
}

/// What became of one card of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemState {
    /// Not decided yet.
    Open,
    /// The card has the limit.
    Done,
    /// The card keeps the limit it had.
    Refused(LimitChangeRefusal),
}

/// One card of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitChangeItem {
    /// Its place in the request, from 0.
    pub ordinal: u32,
    /// The card.
    pub card: CardId,
    /// The bank's number of the card.
    pub number: CardNumber,
    /// What became of it.
    pub state: ItemState,
}

/// A request to change the limits of cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitChange {
    /// The service's identifier.
    pub id: LimitChangeId,
    /// How many cards.
    pub cards: u32,
    /// What each of them shall have.
    pub limit: Limit,
    /// Where it stands.
    pub state: RequestState,
    /// When it was accepted.
    pub created_at: OffsetDateTime,
    /// When it last changed its state.
    pub state_since: OffsetDateTime,
}

impl LimitChange {
    /// A new request of `limit` for so many `cards`.
    #[must_use]
    pub const fn request(id: LimitChangeId, cards: u32, limit: Limit, now: OffsetDateTime) -> Self {
        Self { id, cards, limit, state: RequestState::New, created_at: now, state_since: now }
    }

    /// The request after `event` at `now`; an event that changes nothing leaves its date too.
    ///
    /// # Errors
    /// [`TransitionError`] if the present state does not allow it.
    pub fn on(self, event: RequestEvent, now: OffsetDateTime) -> Result<Self, TransitionError> {
        let state = self.state.after(event, RequestKind::LimitChange)?;
        let state_since = if state == self.state { self.state_since } else { now };
        Ok(Self { state, state_since, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;
    use uuid::Uuid;

    const CREATED: OffsetDateTime = datetime!(2026-03-16 12:00 UTC);
    const LATER: OffsetDateTime = datetime!(2026-03-16 12:01 UTC);

    fn change() -> LimitChange {
        LimitChange::request(LimitChangeId::new(Uuid::nil()), 3, Limit::default(), CREATED)
    }

    #[test]
    fn a_request_moves_on_and_keeps_its_limit() {
        let started = change().on(RequestEvent::Start, LATER).unwrap();
        assert_eq!(started, LimitChange { state: RequestState::InProcess, state_since: LATER, ..change() });
        for (done, refused, state) in
            [(3, 0, RequestState::Success), (1, 2, RequestState::PartSuccess), (0, 3, RequestState::Decline)]
        {
            let ended = started.clone().on(conclusion(done, refused), LATER).unwrap();
            assert_eq!((ended.state, ended.created_at), (state, CREATED));
        }
        assert!(started.on(RequestEvent::Cancel, LATER).is_err());
    }

    #[test]
    fn cancelling_twice_leaves_the_first_date() {
        let cancelled = change().on(RequestEvent::Cancel, CREATED).unwrap();
        assert_eq!(cancelled.state, RequestState::Rejected);
        let again = cancelled.clone().on(RequestEvent::Cancel, LATER).unwrap();
        assert_eq!(again, cancelled);
    }

    #[test]
    fn nothing_is_confirmed() {
        let done = change()
            .on(RequestEvent::Start, LATER)
            .and_then(|change| change.on(conclusion(3, 0), LATER))
            .unwrap();
        let error = done.on(RequestEvent::Confirm, LATER).unwrap_err();
        assert_eq!(error, TransitionError { from: RequestState::Success, event: RequestEvent::Confirm });
    }

    #[test]
    fn every_refusal_has_its_own_words() {
        let texts: std::collections::BTreeSet<&str> =
            LimitChangeRefusal::ALL.iter().map(|refusal| refusal.text()).collect();
        assert_eq!(texts.len(), LimitChangeRefusal::ALL.len());
    }
}
