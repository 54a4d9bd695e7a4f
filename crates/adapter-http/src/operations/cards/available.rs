//! Lists the cards that are not linked to an employee.

use kopeck_domain::card::{Card, CardType, Standing};
use kopeck_port_store::page::Page;
use kopeck_service::cards;

use crate::input::field_types::string_enum;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_AVAILABLE, Needs::One(Scope::CardsRead), handler!(available))
        .reads(reads!(read))
        .responds::<api::Page<api::AvailableCard>>(200);

fn read(r: &mut Reader<'_>) -> Option<(Page, Option<CardType>)> {
    let page = r.page();
    let kind = r.param("typeCard", string_enum::<CardType>().about("Only cards of this type."));
    Some((page?, kind))
}

async fn available(mut ctx: HandlerContext) -> HandlerResult {
    let (page, kind) = ctx.values(read)?;
    let listed = ctx
        .read(Ok(page), move |unit, env, partner, page| cards::available(unit, env, partner, kind, *page))
        .await?;
    ctx.respond_page(&listed, page, body)
}

fn body(card: &Card) -> api::AvailableCard {
    api::AvailableCard {
        id_card: card.id().uuid(),
        custom_id_card: card.number().to_string(),
        type_card: card.kind().as_str().into(),
        date_until: card.valid_until(),
        // The list has no card that the bank blocks.
        bank_status: card.bank_status(Standing::Open).as_str().into(),
    }
}
