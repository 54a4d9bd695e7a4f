//! Shows the balance of a card.

use kopeck_domain::calendar::Zone;
use kopeck_port_store::CardRecord;

use super::{NO_CARD, account, read_card, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_BALANCE, Needs::One(Scope::CardsRead), handler!(balance))
        .reads(reads!(read_id))
        .responds::<api::CardBalance>(200)
        .refuses(NO_CARD);

async fn balance(mut ctx: HandlerContext) -> HandlerResult {
    let record = read_card(&mut ctx).await?;
    ctx.respond(&body(&record, ctx.zone()))
}

fn body(record: &CardRecord, zone: Zone) -> api::CardBalance {
    api::CardBalance {
        id_card: record.card.id().uuid(),
        balance_account: account(&record.account, zone),
        balance: record.bank.balance.get(),
        can_to_up: record.bank.remaining_top_up.get(),
    }
}
