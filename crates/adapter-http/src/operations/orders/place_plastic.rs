//! Orders plastic cards.

use kopeck_domain::order::{
    LineDetails, MAX_PLASTIC_CARDS, OrderKind, OrderLine, PLASTIC_TYPES, plastic_count, plastic_type,
};
use kopeck_domain::person::{DeliveryAddress, Phone, Recipient};

use super::place::{one_of, place, read_lines};
use crate::input::field_types::{integer, text};
use crate::input::reader::{Fields, Reader};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::ORDER_PLASTIC, Needs::One(Scope::OrdersWrite), handler!(place_plastic))
        .reads(reads!(read))
        .responds::<api::OrderCreated>(202);

fn read(r: &mut Reader<'_>) {
    read_lines(r, read_line);
}

fn read_line(item: &mut Fields<'_>, cards: &mut u32) -> Option<OrderLine> {
    let count = item.required("numberCards", integer(plastic_count).between(1, MAX_PLASTIC_CARDS.into()));
    *cards = cards.saturating_add(count.unwrap_or(0));
    let card_type =
        item.required("typeCard", text(plastic_type).looks_like(|all| one_of(PLASTIC_TYPES, all)));
    let address = item.required("deliveryAddress", text(DeliveryAddress::parse));
    let recipient =
        item.required("recipient", text(Recipient::parse).about("The full name of the recipient."));
    let phone = item.required("phone", text(Phone::parse));
    Some(OrderLine {
        card_type: card_type?,
        count: count?,
        details: LineDetails::Plastic { address: address?, recipient: recipient?, phone: phone? },
    })
}

async fn place_plastic(ctx: HandlerContext) -> HandlerResult {
    place(ctx, OrderKind::Plastic, read_line).await
}
