//! Lists the cards that are not linked to an employee.

use kopeck_domain::card::{Card, CardType};
use kopeck_domain::ids::CardId;
use kopeck_port_store::page::Page;
use kopeck_service::cards;

use crate::dto::{DateText, PageDto};
use crate::input::field_types::string_enum;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::CARD_AVAILABLE, handler!(available))
    .reads(reads!(read))
    .responds::<PageDto<'_, UnassignedCardDto>>(200);

fn read(r: &mut Reader<'_>) -> Option<(Page, Option<CardType>)> {
    let page = r.page();
    let kind = r.param("typeCard", string_enum::<CardType>().about("Only cards of this type."));
    Some((page?, kind))
}

async fn available(ctx: HandlerContext) -> HandlerResult {
    let (page, kind) = ctx.input.values(read)?;
    let listed = ctx
        .read(Ok(page), move |unit, env, partner, page| cards::available(unit, env, partner, kind, *page))
        .await?;
    ctx.respond_page(&listed, page, UnassignedCardDto::from)
}

api_type! {
    /// An unassigned card in a list.
    struct UnassignedCardDto as "UnassignedCard" {
        /// Our identifier.
        id_card: CardId,
        /// The bank's number: 13 digits (EAN) for plastic, 10 for virtual. You link it by this number.
        custom_id_card: String,
        /// Its type.
        type_card: CardType,
        /// Its last day.
        date_until: DateText,
    }
}

impl From<&Card> for UnassignedCardDto {
    fn from(card: &Card) -> Self {
        Self {
            id_card: card.id,
            custom_id_card: card.number.to_string(),
            type_card: card.kind,
            date_until: DateText::new(card.valid_until),
        }
    }
}
