//! Asks to give cards a limit.

use std::collections::HashSet;

use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChange;
use kopeck_domain::request::RequestReference;
use kopeck_service::limits;

use crate::input::limit::{self, LimitConflict};
use crate::operations::prelude::*;
use crate::operations::requests::{ACCEPTED, read_reference};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::LIMITS_SET, Needs::One(Scope::LimitsWrite), handler!(set))
        .reads(reads!(read))
        .responds::<api::LimitChangeCreated>(202)
        .refuses(&[Code::LimitConflict, Code::NotSupported])
        .refuses_cards(&[
            Code::CardNotFound,
            Code::EmployeeNotFound,
            Code::CardClosed,
            Code::CardInRequest,
            Code::CardNotMain,
            Code::CardExpired,
        ]);

/// A new change: its cards, their limit, and its reference.
type NewChange = (Vec<CardRef>, Result<Limit, LimitConflict>, Option<RequestReference>);

fn read(r: &mut Reader<'_>) -> Option<NewChange> {
    let mut body = r.body();
    let mut seen = HashSet::new();
    let cards = body.items("data", 1..=MAX_CARDS, |item| item.card_ref(&mut seen));
    let limit =
        body.object("limit", limit::schema, |limit, faults| limit::draft(limit).read("limit", faults));
    let reference = read_reference(&mut body);
    Some((cards?, limit?, reference))
}

async fn set(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values_of_list(read).await?;
    let bank = ctx.bank_capabilities();
    ctx.mutate(values, move |unit, env, partner, (cards, limit, reference)| {
        let Ok(limit) = limit else {
            // Unknown cards come first, as 404 comes before 409.
            limits::check_cards(unit, partner, cards)?;
            return Err(ApiError::from(Code::LimitConflict));
        };
        bank.require_limit(limit)?;
        Ok(accepted(limits::set(unit, env, partner, cards, limit, reference.as_ref())?))
    })
    .await
}

fn accepted(request: LimitChange) -> api::LimitChangeCreated {
    api::LimitChangeCreated { message: ACCEPTED.to_owned(), set_limits_cards_id: request.id().uuid() }
}
