//! Shows the balance of a card.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::CardId;
use kopeck_port_store::CardRecord;

use super::{AccountDto, NO_CARD, read_card, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::CARD_BALANCE, handler!(balance))
    .reads(reads!(read_id))
    .responds::<CardBalanceDto>(200)
    .refuses(NO_CARD);

async fn balance(ctx: HandlerContext) -> HandlerResult {
    let record = read_card(&ctx).await?;
    ctx.respond(&CardBalanceDto::new(&record, ctx.zone()))
}

api_type! {
    /// The balance of a card.
    struct CardBalanceDto as "CardBalance" {
        /// The card.
        id_card: CardId,
        /// Its account at the bank.
        balance_account: AccountDto,
        /// The money on it, kopecks.
        balance: Kopecks,
        /// By how much it can still be topped up, kopecks.
        can_to_up: Kopecks,
    }
}

impl CardBalanceDto {
    fn new(record: &CardRecord, zone: Zone) -> Self {
        Self {
            id_card: record.card.id,
            balance_account: AccountDto::new(&record.account, zone),
            balance: record.bank.balance,
            can_to_up: record.bank.remaining_top_up,
        }
    }
}
