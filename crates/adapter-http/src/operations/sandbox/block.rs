//! Blocks a card at the bank.

use super::plain_command;
use crate::operations::cards::{NO_CARD_OR_BANK, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_BLOCK, Needs::One(Scope::SandboxWrite), handler!(block))
        .body_optional()
        .reads(reads!(read_id))
        .responds::<api::Done>(200)
        .refuses(NO_CARD_OR_BANK);

async fn block(ctx: HandlerContext) -> HandlerResult {
    plain_command(ctx, |sandbox, card| sandbox.block(card)).await
}
