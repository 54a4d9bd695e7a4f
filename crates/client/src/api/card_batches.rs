//! Card batches: top-ups, limit changes, closings and withdrawals.

use kopeck_api::{
    CardLimit, Closing, ClosingCreated, ClosingResult, Data, LimitChange, LimitChangeCreated, LimitResult,
    Operation, Replenishment, ReplenishmentCreated, ReplenishmentResult, Withdrawal, WithdrawalCreated,
    WithdrawalResult, operations,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::requests::{RequestKind, Requests, about, sealed};
use crate::error::Error;
use crate::model::card_batch::{CardClosing, CardRef, CardWithdrawal, TopUp};
use crate::request::Request;
use crate::write::Write;

/// Operations on top-ups of cards; see [`Client::replenishments`](crate::Client::replenishments).
pub type Replenishments<'a> = Requests<'a, Replenishment>;

/// Operations on changes of cards' limits; see [`Client::limits`](crate::Client::limits).
pub type Limits<'a> = Requests<'a, LimitChange>;

/// Operations on closings of cards; see [`Client::closings`](crate::Client::closings).
pub type Closings<'a> = Requests<'a, Closing>;

/// Operations on withdrawals from cards; see [`Client::withdrawals`](crate::Client::withdrawals).
pub type Withdrawals<'a> = Requests<'a, Withdrawal>;

/// A kind of card batch, by its record in lists.
pub trait CardBatchKind: RequestKind {
    /// The outcome of one card.
    type CardResult: DeserializeOwned;
}

impl<R: CardBatchKind> Requests<'_, R> {
    /// Reads the result of each card.
    ///
    /// # Errors
    ///
    /// 404 if there is no such request, 409 if it is not processed yet or was cancelled; see [`Error`].
    pub async fn result(&self, id: Uuid) -> Result<Vec<R::CardResult>, Error> {
        self.client.read(about::<R>(R::RESULT, id)).await.map(|Data { data }| data)
    }
}

impl Requests<'_, Replenishment> {
    /// Asks for top-ups of 1 to 10,000 cards, each once.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way.
    pub fn create(&self, cards: &[TopUp]) -> Write<ReplenishmentCreated> {
        #[derive(Serialize)]
        struct Body<'a> {
            cards: &'a [TopUp],
        }
        self.client.write(Request::of(&operations::REPLENISHMENT_CREATE).body(&Body { cards }))
    }
}

impl Requests<'_, LimitChange> {
    /// Asks to give the same limits to 1 to 10,000 cards, each named once.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way, and with 409 if the limits contradict each other.
    pub fn set<C: Clone + Into<CardRef>>(&self, cards: &[C], limit: &CardLimit) -> Write<LimitChangeCreated> {
        #[derive(Serialize)]
        struct Body<'a> {
            data: Vec<CardRef>,
            limit: &'a CardLimit,
        }
        let data = cards.iter().cloned().map(Into::into).collect();
        self.client.write(Request::of(&operations::LIMITS_SET).body(&Body { data, limit }))
    }
}

impl Requests<'_, Closing> {
    /// Permanently closes 1 to 10,000 cards, each once. Their money returns to the balance.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way.
    pub fn create(&self, cards: &[CardClosing]) -> Write<ClosingCreated> {
        self.client.write(Request::of(&operations::CLOSING_CREATE).body(&Data { data: cards }))
    }
}

impl Requests<'_, Withdrawal> {
    /// Asks for money back from 1 to 10,000 cards, each once.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way.
    pub fn create(&self, cards: &[CardWithdrawal]) -> Write<WithdrawalCreated> {
        self.client.write(Request::of(&operations::WITHDRAWAL_CREATE).body(&Data { data: cards }))
    }
}

impl CardBatchKind for Replenishment {
    type CardResult = ReplenishmentResult;
}

impl sealed::RequestOperations for Replenishment {
    const STATUS: &'static Operation = &operations::REPLENISHMENT_STATUS;
    const RESULT: &'static Operation = &operations::REPLENISHMENT_RESULT;
    const CANCEL: &'static Operation = &operations::REPLENISHMENT_CANCEL;
    const LIST: &'static Operation = &operations::REPLENISHMENT_LIST;

    fn id(&self) -> Uuid {
        self.replenishment_id
    }
}

impl CardBatchKind for LimitChange {
    type CardResult = LimitResult;
}

impl sealed::RequestOperations for LimitChange {
    const STATUS: &'static Operation = &operations::LIMITS_STATUS;
    const RESULT: &'static Operation = &operations::LIMITS_RESULT;
    const CANCEL: &'static Operation = &operations::LIMITS_CANCEL;
    const LIST: &'static Operation = &operations::LIMITS_LIST;
    const IN_BODY: &'static str = "setLimitsCardsId";

    fn id(&self) -> Uuid {
        self.set_limits_cards_id
    }
}

impl CardBatchKind for Closing {
    type CardResult = ClosingResult;
}

impl sealed::RequestOperations for Closing {
    const STATUS: &'static Operation = &operations::CLOSING_STATUS;
    const RESULT: &'static Operation = &operations::CLOSING_RESULT;
    const CANCEL: &'static Operation = &operations::CLOSING_CANCEL;
    const LIST: &'static Operation = &operations::CLOSING_LIST;

    fn id(&self) -> Uuid {
        self.closing_id
    }
}

impl CardBatchKind for Withdrawal {
    type CardResult = WithdrawalResult;
}

impl sealed::RequestOperations for Withdrawal {
    const STATUS: &'static Operation = &operations::WITHDRAWAL_STATUS;
    const RESULT: &'static Operation = &operations::WITHDRAWAL_RESULT;
    const CANCEL: &'static Operation = &operations::WITHDRAWAL_CANCEL;
    const LIST: &'static Operation = &operations::WITHDRAWAL_LIST;

    fn id(&self) -> Uuid {
        self.withdrawal_id
    }
}
