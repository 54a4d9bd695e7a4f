//! Asks to top up cards.

use std::collections::HashSet;

use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::replenishment::{MAX_AMOUNT, Replenishment, top_up_amount};
use kopeck_service::card_batches::CreateBatchError;
use kopeck_service::replenishments::{self, TopUp};

use crate::input::field_types::integer;
use crate::operations::card_batches::not_created;
use crate::operations::prelude::*;
use crate::operations::requests::ACCEPTED;

pub(super) static OPERATION: Operation = Operation::of(&operations::REPLENISHMENT_CREATE, handler!(create))
    .reads(reads!(read))
    .responds::<api::ReplenishmentCreated>(202)
    .refuses_cards(&[
        Code::CardNotFound,
        Code::CardClosed,
        Code::CardInRequest,
        Code::CardNotMain,
        Code::CardExpired,
    ]);

/// The cards of a request.
fn read(r: &mut Reader<'_>) -> Option<Vec<TopUp>> {
    let mut seen = HashSet::new();
    r.body().items("cards", 1..=MAX_CARDS, |item| {
        let card = item.distinct("idCard", &mut seen);
        let amount = item
            .required("amountReplenishment", integer(top_up_amount).between(1, MAX_AMOUNT).about("Kopecks."));
        Some(TopUp { card: card?, amount: amount? })
    })
}

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let top_ups = ctx.values_of_list(read).await?;
    ctx.mutate(top_ups, |unit, env, partner, top_ups| {
        replenishments::create(unit, env, partner, top_ups).map(accepted)
    })
    .await
}

fn accepted(request: Replenishment) -> api::ReplenishmentCreated {
    api::ReplenishmentCreated { message: ACCEPTED.to_owned(), replenishment_id: request.id.uuid() }
}

impl From<CreateBatchError<AmountOverflow>> for ApiError {
    fn from(error: CreateBatchError<AmountOverflow>) -> Self {
        not_created(error, |overflow| Self::field("cards", overflow.to_string()))
    }
}
