//! Activates a card.

use super::{on_card, with_card};
use crate::dto::SuccessDto;
use crate::input::field_types::text;
use crate::operations::cards::NO_CARD_OR_BANK;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::SANDBOX_ACTIVATE, handler!(activate))
    .body_optional()
    .reads(reads!(with_card, read))
    .responds::<SuccessDto>(200)
    .refuses(NO_CARD_OR_BANK);

fn read(r: &mut Reader<'_>) -> Option<Option<String>> {
    let about = "The code from the result of its order; without one the bank activates the card by itself.";
    Some(r.body().optional("activationCode", text(|code| Ok(code.to_owned())).about(about)))
}

async fn activate(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, read, |sandbox, card, code, _| {
        sandbox.bank.activate(card, code.as_deref()).map(|()| SuccessDto::new())
    })
    .await
}
