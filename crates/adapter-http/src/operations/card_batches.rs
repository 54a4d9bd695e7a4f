//! Parts that all kinds of card batches share.

use crate::input::faults::Faults;
use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch};
use kopeck_domain::ids::CardId;
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

fn unknown(card: CardId) -> FaultyCard {
    FaultyCard { card, code: Code::CardNotFound }
}

fn faulty(CardConflict { card, reason }: CardConflict) -> FaultyCard {
    let code = match reason {
        ConflictReason::Closed => Code::CardClosed,
        ConflictReason::InBatch => Code::CardInRequest,
        ConflictReason::NotMain => Code::CardNotMain,
        ConflictReason::Expired => Code::CardExpired,
    };
    FaultyCard { card, code }
}

/// A batch that was not accepted; `terms` makes an error of what is wrong with it as a whole.
pub(super) fn not_created<T>(error: CreateBatchError<T>, terms: impl FnOnce(T) -> ApiError) -> ApiError {
    match error {
        CreateBatchError::UnknownCards(cards) => ApiError::cards(cards.into_iter().map(unknown).collect()),
        CreateBatchError::Terms(error) => terms(error),
        CreateBatchError::Conflicts(conflicts) => {
            ApiError::cards(conflicts.into_iter().map(faulty).collect())
        }
        CreateBatchError::Store(error) => error.into(),
    }
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
