//! Shows the state of a closing.

use kopeck_domain::closing::Closings;

use super::{read_id, state};
use crate::operations::card_batches;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CLOSING_STATUS, Needs::One(Scope::ClosingsRead), handler!(status))
        .reads(reads!(read_id))
        .responds::<api::ClosingState>(200)
        .refuses(&[Code::RequestNotFound]);

async fn status(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    card_batches::status::<Closings, _>(ctx, id, state).await
}
