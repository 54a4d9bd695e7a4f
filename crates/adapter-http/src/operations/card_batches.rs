//! Parts that all kinds of card batches share.

use crate::input::faults::Faults;
use crate::input::reader::{TWICE, card_field};
use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch};
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::money::AmountOverflow;
use kopeck_port_bank::NotSupported;
use kopeck_port_store::{StoredKind, UnitOfWork};
use kopeck_service::card_batches::{
    self, BatchError, BatchResultError, CancelBatchError, CardConflict, ConflictReason, CreateBatchError,
};

use serde::Serialize;

use crate::error::{ApiError, FaultyCard};
use crate::list_stream::{self, ListSource, NoFields, PAGE, WriteRow};
use crate::operations::prelude::*;

pub(super) const NO_RESULT: &[Code] =
    &[Code::RequestNotFound, Code::RequestNotProcessed, Code::RequestCancelled];
pub(super) const NOT_CANCELLABLE: &[Code] = &[Code::RequestNotFound, Code::RequestNotCancellable];

/// The bank cannot do what a request asks for, so the request would never succeed.
impl From<NotSupported> for ApiError {
    fn from(error: NotSupported) -> Self {
        Self::new(Code::NotSupported, error.to_string())
    }
}

/// Responds with what became of each card of a batch.
pub(super) async fn result<K: StoredKind>(
    ctx: HandlerContext,
    id: Result<K::Id, Faults>,
    show: WriteRow<BatchItem<K>>,
) -> HandlerResult {
    let result = ctx.read(id, |unit, _env, partner, id| card_batches::result::<K>(unit, partner, *id, PAGE));
    let (batch, items) = result.await?;
    let id = batch.id();
    let listing = ListSource {
        read: move |unit: &mut dyn UnitOfWork, partner, from| {
            card_batches::more_of_result::<K>(unit, partner, id, from, PAGE)
        },
        show,
    };
    list_stream::response(&ctx, &NoFields {}, batch.cards(), &items, listing)
}

/// Responds with the state of a batch.
pub(super) async fn status<K: StoredKind, D: Serialize>(
    ctx: HandlerContext,
    id: Result<K::Id, Faults>,
    show: fn(CardBatch<K>) -> D,
) -> HandlerResult {
    let batch = ctx.read(id, |unit, _env, partner, id| card_batches::get::<K>(unit, partner, *id)).await?;
    ctx.respond(&show(batch))
}

fn unknown(named: CardRef) -> FaultyCard {
    let code = if named.is_person() { Code::EmployeeNotFound } else { Code::CardNotFound };
    FaultyCard { named, card: None, code, message: code.message() }
}

fn faulty(CardConflict { named, card, reason }: CardConflict) -> FaultyCard {
    let code = match reason {
        ConflictReason::Closed => Code::CardClosed,
        ConflictReason::InBatch => Code::CardInRequest,
        ConflictReason::NotMain | ConflictReason::NoMainCard => Code::CardNotMain,
        ConflictReason::Expired => Code::CardExpired,
    };
    let message = match reason {
        ConflictReason::NoMainCard => "the employee has no main card",
        _ => code.message(),
    };
    FaultyCard { named, card, code, message }
}

/// A batch of the cards in the field `list` that was not accepted; `terms` makes an error of what is wrong with it as a
/// whole.
pub(super) fn not_created<T>(
    error: CreateBatchError<T>,
    list: &str,
    terms: impl FnOnce(T) -> ApiError,
) -> ApiError {
    match error {
        CreateBatchError::Twice(cards) => {
            let mut faults = Faults::new();
            for (place, named) in cards {
                faults.push(format!("{list}[{place}].{}", card_field(&named)), TWICE);
            }
            faults.into()
        }
        CreateBatchError::UnknownCards(cards) => ApiError::cards(cards.into_iter().map(unknown).collect()),
        CreateBatchError::Terms(error) => terms(error),
        CreateBatchError::Conflicts(conflicts) => {
            ApiError::cards(conflicts.into_iter().map(faulty).collect())
        }
        CreateBatchError::Store(error) => error.into(),
    }
}

/// The same of a batch whose amounts are added up.
pub(super) fn amounts_not_created(error: CreateBatchError<AmountOverflow>, list: &str) -> ApiError {
    not_created(error, list, |overflow| ApiError::field(list, overflow.to_string()))
}

impl From<BatchError> for ApiError {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::NotFound => Code::RequestNotFound.into(),
            BatchError::Store(error) => error.into(),
        }
    }
}

impl From<BatchResultError> for ApiError {
    fn from(error: BatchResultError) -> Self {
        match error {
            BatchResultError::NotFound => Code::RequestNotFound.into(),
            BatchResultError::NotProcessed => Code::RequestNotProcessed.into(),
            BatchResultError::Cancelled => Code::RequestCancelled.into(),
            BatchResultError::Store(error) => error.into(),
        }
    }
}

impl From<CancelBatchError> for ApiError {
    fn from(error: CancelBatchError) -> Self {
        match error {
            CancelBatchError::NotFound => Code::RequestNotFound.into(),
            // No worker has it: the kind of the request is in the way.
            CancelBatchError::WrongState(BatchState::New) => {
                let message = "a closing of lost and stolen cards cannot be cancelled".to_owned();
                Self::new(Code::RequestNotCancellable, message)
            }
            CancelBatchError::WrongState(state) => {
                let message = format!("a request in {state} cannot be cancelled");
                Self::new(Code::RequestNotCancellable, message)
            }
            CancelBatchError::Store(error) => error.into(),
        }
    }
}
