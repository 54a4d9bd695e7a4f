//! Asks to top up cards.

use std::collections::HashSet;

use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::replenishment::{MAX_AMOUNT, Replenishment, top_up_amount};
use kopeck_domain::request::RequestReference;
use kopeck_service::replenishments::{self, TopUp};

use crate::input::field_types::integer;
use crate::operations::card_batches::amounts_not_created;
use crate::operations::prelude::*;
use crate::operations::requests::{ACCEPTED, read_reference};

pub(super) static OPERATION: Operation = Operation::of(
    &operations::REPLENISHMENT_CREATE,
    Needs::One(Scope::ReplenishmentsWrite),
    handler!(create),
)
.reads(reads!(read))
.responds::<api::ReplenishmentCreated>(202)
.refuses_cards(&[
    Code::CardNotFound,
    Code::EmployeeNotFound,
    Code::CardClosed,
    Code::CardInRequest,
    Code::CardNotMain,
    Code::CardExpired,
]);

/// The cards of a request, and its reference.
fn read(r: &mut Reader<'_>) -> Option<(Vec<TopUp>, Option<RequestReference>)> {
    let (mut body, mut seen) = (r.body(), HashSet::new());
    let top_ups = body.items("cards", 1..=MAX_CARDS, |item| {
        let card = item.card_ref(&mut seen);
        let amount = item
            .required("amountReplenishment", integer(top_up_amount).between(1, MAX_AMOUNT).about("Kopecks."));
        Some(TopUp { card: card?, amount: amount? })
    });
    let reference = read_reference(&mut body);
    Some((top_ups?, reference))
}

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values_of_list(read).await?;
    ctx.mutate(values, |unit, env, partner, (top_ups, reference)| {
        let created = replenishments::create(unit, env, partner, top_ups, reference.as_ref());
        created.map(accepted).map_err(|error| amounts_not_created(error, "cards"))
    })
    .await
}

fn accepted(request: Replenishment) -> api::ReplenishmentCreated {
    api::ReplenishmentCreated { message: ACCEPTED.to_owned(), replenishment_id: request.id().uuid() }
}
