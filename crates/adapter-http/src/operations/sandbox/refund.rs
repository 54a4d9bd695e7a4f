//! Refunds a payment.

use kopeck_domain::Kopecks;
use kopeck_port_bank::sandbox::Refund;

use super::{on_card, with_card};
use crate::input::field_types::{amount, integer};
use crate::operations::cards::NO_CARD_OR_BANK;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_REFUND, Needs::One(Scope::SandboxWrite), handler!(refund))
        .reads(reads!(with_card, read))
        .responds::<api::RefundResult>(200)
        .refuses(NO_CARD_OR_BANK);

fn read(r: &mut Reader<'_>) -> Option<(i64, Kopecks)> {
    let mut body = r.body();
    let transaction = body.required("transactionId", integer(Ok).about("A `PAYMENT` of this card."));
    let about = "Kopecks, up to the part of the payment that is not refunded yet.";
    let amount = body.required("amount", amount().about(about));
    Some((transaction?, amount?))
}

async fn refund(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, read, |sandbox, card, (payment, amount), key| {
        let refund = Refund { payment, amount, key: Some(key.clone()) };
        sandbox
            .bank
            .refund(card, &refund)
            .map(|transaction_id| api::RefundResult { success: true, transaction_id })
    })
    .await
}
