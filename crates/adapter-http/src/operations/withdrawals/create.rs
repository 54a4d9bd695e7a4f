//! Asks to take money from cards.

use std::collections::HashSet;

use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::replenishment::{MAX_AMOUNT, top_up_amount};
use kopeck_domain::request::RequestReference;
use kopeck_domain::withdrawal::Withdrawal;
use kopeck_service::withdrawals::{self, CardWithdrawal};

use crate::input::field_types::integer;
use crate::operations::prelude::*;
use crate::operations::requests::{ACCEPTED, read_reference};

pub(super) static OPERATION: Operation = Operation::of(&operations::WITHDRAWAL_CREATE, handler!(create))
    .reads(reads!(read))
    .responds::<api::WithdrawalCreated>(202)
    .refuses_cards(&[Code::CardNotFound, Code::CardClosed, Code::CardInRequest]);

/// A new withdrawal: its cards, and its reference.
type NewWithdrawal = (Vec<CardWithdrawal>, Option<RequestReference>);

fn read(r: &mut Reader<'_>) -> Option<NewWithdrawal> {
    let mut body = r.body();
    let mut seen = HashSet::new();
    let cards = body.items("data", 1..=MAX_CARDS, |item| {
        let card = item.distinct("idCard", &mut seen);
        let about = "Kopecks; without an amount, all that is on the card.";
        let amount = item.optional("amount", integer(top_up_amount).between(1, MAX_AMOUNT).about(about));
        Some(CardWithdrawal { card: card?, amount })
    });
    let reference = read_reference(&mut body);
    Some((cards?, reference))
}

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values_of_list(read).await?;
    ctx.mutate(values, |unit, env, partner, (cards, reference)| {
        withdrawals::create(unit, env, partner, cards, reference.as_ref()).map(accepted)
    })
    .await
}

fn accepted(request: Withdrawal) -> api::WithdrawalCreated {
    api::WithdrawalCreated { message: ACCEPTED.to_owned(), withdrawal_id: request.id().uuid() }
}
