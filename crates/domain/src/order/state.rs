//! The states of an order.

use time::OffsetDateTime;

use super::{Order, OrderFields};
use crate::request::{TransitionError, moved, states_of};
use crate::string_enum::serde_enum;

serde_enum! {
    /// Where an order stands. It is done as a whole or not at all.
    OrderState {
        /// Accepted; can still be cancelled.
        New = "NEW",
        /// Handed to the bank.
        InProcess = "IN_PROCESS",
        /// Done; its cards are there.
        Success = "SUCCESS",
        /// Refused by the bank; held money is released.
        Decline = "DECLINE",
        /// Cancelled by the partner; held money is released.
        Rejected = "REJECTED",
        /// The partner confirmed the receipt; closed.
        Confirmed = "CONFIRMED",
    }
}

states_of!(OrderState: New, InProcess, Success, Decline, Rejected, Confirmed);

impl Order {
    /// A worker takes the order up.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is new.
    pub fn start(self, now: OffsetDateTime) -> Result<Self, TransitionError<OrderState>> {
        self.moved("start", &[OrderState::New], OrderState::InProcess, now)
    }

    /// The bank issued all of its cards.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is in process.
    pub fn succeed(self, now: OffsetDateTime) -> Result<Self, TransitionError<OrderState>> {
        self.moved("succeed", &[OrderState::InProcess], OrderState::Success, now)
    }

    /// The bank refuses it.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is in process.
    pub fn decline(self, now: OffsetDateTime) -> Result<Self, TransitionError<OrderState>> {
        self.moved("decline", &[OrderState::InProcess], OrderState::Decline, now)
    }

    /// The partner cancels it. Cancelling again changes nothing.
    ///
    /// # Errors
    /// [`TransitionError`] if a worker has taken it up.
    pub fn cancel(self, now: OffsetDateTime) -> Result<Self, TransitionError<OrderState>> {
        self.moved("cancel", &[OrderState::New, OrderState::Rejected], OrderState::Rejected, now)
    }

    /// The partner confirms the receipt. Confirming again changes nothing.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is done.
    pub fn confirm(self, now: OffsetDateTime) -> Result<Self, TransitionError<OrderState>> {
        self.moved("confirm", &[OrderState::Success, OrderState::Confirmed], OrderState::Confirmed, now)
    }

    fn moved(
        self,
        step: &'static str,
        from: &[OrderState],
        to: OrderState,
        now: OffsetDateTime,
    ) -> Result<Self, TransitionError<OrderState>> {
        let (state, state_since) = moved((self.state(), self.state_since()), step, from, to, now)?;
        Ok(Self(OrderFields { state, state_since, ..self.0 }))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;
    use uuid::Uuid;

    use super::OrderState as S;
    use super::*;
    use crate::Kopecks;
    use crate::card::CardType;
    use crate::ids::OrderId;
    use crate::order::OrderKind;

    const CREATED: OffsetDateTime = datetime!(2026-03-16 12:00 UTC);
    const LATER: OffsetDateTime = datetime!(2026-03-16 12:01 UTC);

    fn in_state(state: S) -> Order {
        Order::from_stored(OrderFields {
            id: OrderId::new(Uuid::nil()),
            kind: OrderKind::Plastic,
            card_type: CardType::Kkl,
            cards: 1,
            cost: Kopecks::ZERO,
            state,
            created_at: CREATED,
            state_since: CREATED,
            reference: None,
        })
    }

    type Step = fn(Order, OffsetDateTime) -> Result<Order, TransitionError<S>>;

    const STEPS: [(&str, Step); 5] = [
        ("start", Order::start),
        ("succeed", Order::succeed),
        ("decline", Order::decline),
        ("cancel", Order::cancel),
        ("confirm", Order::confirm),
    ];

    /// The transitions that exist, written down once more by hand; every other pair must be refused.
    const TABLE: &[(S, &str, S)] = &[
        (S::New, "start", S::InProcess),
        (S::New, "cancel", S::Rejected),
        (S::Rejected, "cancel", S::Rejected),
        (S::InProcess, "succeed", S::Success),
        (S::InProcess, "decline", S::Decline),
        (S::Success, "confirm", S::Confirmed),
        (S::Confirmed, "confirm", S::Confirmed),
    ];

    #[test]
    fn the_whole_table_of_states_and_steps() {
        for &state in S::ALL {
            for (name, step) in STEPS {
                let to =
                    TABLE.iter().find(|(from, on, _)| (*from, *on) == (state, name)).map(|(_, _, to)| *to);
                let expected = to.ok_or(TransitionError { from: state, step: name }).map(|to| {
                    let state_since = if to == state { CREATED } else { LATER };
                    Order::from_stored(OrderFields { state_since, ..in_state(to).into_fields() })
                });
                assert_eq!(step(in_state(state), LATER), expected, "{state} + {name}");
            }
        }
    }
}
