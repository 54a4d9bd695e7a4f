//! Asks to take money from cards.

use std::collections::HashSet;

use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::replenishment::{MAX_AMOUNT, top_up_amount};
use kopeck_domain::request::RequestReference;
use kopeck_domain::withdrawal::Withdrawal;
use kopeck_port_bank::Capability;
use kopeck_service::withdrawals::{self, CardWithdrawal};

use crate::input::field_types::integer;
use crate::operations::card_batches::amounts_not_created;
use crate::operations::prelude::*;
use crate::operations::requests::{ACCEPTED, read_reference};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WITHDRAWAL_CREATE, Needs::One(Scope::WithdrawalsWrite), handler!(create))
        .reads(reads!(read))
        .responds::<api::WithdrawalCreated>(202)
        .refuses(&[Code::NotSupported])
        .refuses_cards(&[
            Code::CardNotFound,
            Code::EmployeeNotFound,
            Code::CardClosed,
            Code::CardInRequest,
            Code::CardNotMain,
        ]);

/// A new withdrawal: its cards, and its reference.
type NewWithdrawal = (Vec<CardWithdrawal>, Option<RequestReference>);

fn read(r: &mut Reader<'_>) -> Option<NewWithdrawal> {
    let mut body = r.body();
    let mut seen = HashSet::new();
    let cards = body.items("data", 1..=MAX_CARDS, |item| {
        let card = item.card_ref(&mut seen);
        let about = "Kopecks; without an amount, all that is on the card.";
        let amount = item.optional("amount", integer(top_up_amount).between(1, MAX_AMOUNT).about(about));
        Some(CardWithdrawal { card: card?, amount })
    });
    let reference = read_reference(&mut body);
    Some((cards?, reference))
}

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values_of_list(read).await?;
    let bank = ctx.bank_capabilities();
    ctx.mutate(values, move |unit, env, partner, (cards, reference)| {
        bank.require(Capability::Withdrawals)?;
        let created = withdrawals::create(unit, env, partner, cards, reference.as_ref());
        created.map(accepted).map_err(|error| amounts_not_created(error, "data"))
    })
    .await
}

fn accepted(request: Withdrawal) -> api::WithdrawalCreated {
    api::WithdrawalCreated { message: ACCEPTED.to_owned(), withdrawal_id: request.id().uuid() }
}
