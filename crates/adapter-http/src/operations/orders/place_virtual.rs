//! Orders virtual cards.

use kopeck_domain::order::{
    LineDetails, MAX_FIRST_TOP_UP, MAX_VIRTUAL_CARDS, MIN_FIRST_TOP_UP, OrderKind, OrderLine, VIRTUAL_TYPES,
    first_top_up, virtual_count, virtual_type,
};

use super::place::{one_of, place, read_lines};
use crate::input::field_types::{integer, integer_or_digits, text};
use crate::input::reader::{Fields, Reader};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::ORDER_VIRTUAL, Needs::One(Scope::OrdersWrite), handler!(place_virtual))
        .reads(reads!(read))
        .responds::<api::OrderCreated>(202)
        .refuses(&[Code::InsufficientBalance]);

fn read(r: &mut Reader<'_>) {
    read_lines(r, read_line);
}

fn read_line(item: &mut Fields<'_>, cards: &mut u32) -> Option<OrderLine> {
    let count = item.required("numberCards", integer(virtual_count).between(1, MAX_VIRTUAL_CARDS.into()));
    *cards = cards.saturating_add(count.unwrap_or(0));
    let card_type =
        item.required("typeCard", text(virtual_type).looks_like(|all| one_of(VIRTUAL_TYPES, all)));
    // The interface has it as a string in one place and as a number in another.
    let amount = integer_or_digits(first_top_up).between(MIN_FIRST_TOP_UP, MAX_FIRST_TOP_UP);
    let amount = item.required("amount", amount.about("Kopecks: the first top-up of each card."));
    Some(OrderLine {
        card_type: card_type?,
        count: count?,
        details: LineDetails::Virtual { amount: amount? },
    })
}

async fn place_virtual(ctx: HandlerContext) -> HandlerResult {
    place(ctx, OrderKind::Virtual, read_line).await
}
