//! Shows what became of each card of a limit change.

use kopeck_domain::card_batch::ItemState;
use kopeck_domain::ids::{CardId, LimitChangeId};
use kopeck_domain::limit_change::{LimitChangeItem, LimitChangeRefusal, LimitChanges};

use super::ID;
use crate::dto::Data;
use crate::operations::card_batches::{self, NO_RESULT};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::LIMITS_RESULT, handler!(result))
    .reads(reads!(read))
    .responds::<Data<Vec<LimitChangeItemDto>>>(200)
    .refuses(NO_RESULT);

fn read(r: &mut Reader<'_>) -> Option<LimitChangeId> {
    r.id(ID)
}

async fn result(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read);
    card_batches::result::<LimitChanges, LimitChangeItemDto>(ctx, id).await
}

api_type! {
    /// What became of one card of a limit change.
    struct LimitChangeItemDto as "LimitChangeResult" {
        /// The card.
        id_card: CardId,
        /// Whether it has the new limit; if not, it keeps the old one.
        result_limit: bool,
        /// Why not: `the card is blocked by the bank`, `the card has expired`, `the card is not activated`, `refused by the
        /// bank`.
        error_limit: Option<&'static str>,
    }
}

impl From<&LimitChangeItem> for LimitChangeItemDto {
    fn from(item: &LimitChangeItem) -> Self {
        Self {
            id_card: item.card,
            result_limit: item.state == ItemState::Done,
            error_limit: item.state.refusal().map(LimitChangeRefusal::text),
        }
    }
}
