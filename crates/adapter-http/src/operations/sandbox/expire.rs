//! Makes a card expire.

use super::plain_command;
use crate::operations::cards::{NO_CARD_OR_BANK, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_EXPIRE, Needs::One(Scope::SandboxWrite), handler!(expire))
        .body_optional()
        .reads(reads!(read_id))
        .responds::<api::Done>(200)
        .refuses(NO_CARD_OR_BANK);

async fn expire(ctx: HandlerContext) -> HandlerResult {
    plain_command(ctx, |sandbox, card| sandbox.expire(card)).await
}
