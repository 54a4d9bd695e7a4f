//! Activates a card.

use kopeck_domain::Invalid;

use super::{on_card, with_card};
use crate::input::field_types::text;
use crate::operations::cards::NO_CARD_OR_BANK;
use crate::operations::prelude::*;
use crate::schema::chars;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_ACTIVATE, Needs::One(Scope::SandboxWrite), handler!(activate))
        .body_optional()
        .reads(reads!(with_card, read))
        .responds::<api::Done>(200)
        .refuses(NO_CARD_OR_BANK);

/// The most characters of a code that is looked at.
const LONGEST_CODE: usize = 256;

fn read(r: &mut Reader<'_>) -> Option<Option<String>> {
    let about = "The code from the result of its order; without one the bank activates the card.";
    let code = text(code).looks_like(|_| chars(1, LONGEST_CODE)).about(about);
    Some(r.body().optional("activationCode", code))
}

/// A code of bounded length: it is kept while the request waits for the bank.
fn code(code: &str) -> Result<String, Invalid> {
    let is_short = (1..=LONGEST_CODE).contains(&code.chars().count());
    let wrong = || Invalid::new(format!("must have 1 to {LONGEST_CODE} characters"));
    is_short.then(|| code.to_owned()).ok_or_else(wrong)
}

async fn activate(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, read, |sandbox, card, code, _| {
        sandbox.bank.activate(card, code.as_deref()).map(|()| api::Done { success: true })
    })
    .await
}
