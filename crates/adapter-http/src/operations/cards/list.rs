//! Lists cards.

use kopeck_domain::calendar::parse_date;
use kopeck_domain::card::{BankStatus, CardStatus, CardType};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{EmployeeId, OrderId};
use kopeck_port_store::CardFilter;
use kopeck_port_store::page::Page;
use kopeck_service::cards;

use super::info::body;
use crate::input::field_types::{boolean, id, string_enum, text};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_LIST, Needs::One(Scope::CardsRead), handler!(list))
        .reads(reads!(read))
        .responds::<api::Page<api::Card>>(200);

fn read(r: &mut Reader<'_>) -> Option<(Page, CardFilter)> {
    let page = r.page();
    let before = "Only cards whose last day is before this one.";
    let filter = CardFilter {
        linked: r.param("linked", boolean().about("Only cards that are linked to an employee, or to none.")),
        status: r.param("statusCard", string_enum::<CardStatus>().about("Only cards with this status.")),
        bank_status: r
            .param("bankStatus", string_enum::<BankStatus>().about("Only cards with this `bankStatus`.")),
        kind: r.param("typeCard", string_enum::<CardType>().about("Only cards of this type.")),
        order: r.param("orderId", id::<OrderId>().about("Only cards of this order.")),
        employee: r.param("idEmployee", id::<EmployeeId>().about("Only cards of this employee.")),
        expires_before: r.param("expiresBefore", text(parse_date).about(before)),
        number: r.param("customIdCard", text(CardNumber::parse).about("Only the card with this number.")),
    };
    Some((page?, filter))
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let (page, filter) = ctx.values(read)?;
    let listed = ctx
        .read(Ok(filter), move |unit, _env, partner, filter| cards::list(unit, partner, filter, page))
        .await?;
    let zone = ctx.zone();
    ctx.respond_page(&listed, page, |record| body(record, zone))
}
