//! Asks to close cards.

use std::collections::HashSet;
use std::convert::Infallible;

use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::closing::{Closing, ClosingReason};
use kopeck_domain::request::RequestReference;
use kopeck_port_bank::Capability;
use kopeck_service::card_batches::CreateBatchError;
use kopeck_service::closings::{self, CardClosing};

use crate::input::field_types::string_enum;
use crate::operations::card_batches::not_created;
use crate::operations::prelude::*;
use crate::operations::requests::{ACCEPTED, read_reference};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CLOSING_CREATE, Needs::One(Scope::ClosingsWrite), handler!(create))
        .reads(reads!(read))
        .responds::<api::ClosingCreated>(202)
        .refuses(&[Code::NotSupported])
        .refuses_cards(&[
            Code::CardNotFound,
            Code::EmployeeNotFound,
            Code::CardClosed,
            Code::CardInRequest,
            Code::CardNotMain,
        ]);

/// A new closing: its cards, and its reference.
type NewClosing = (Vec<CardClosing>, Option<RequestReference>);

fn read(r: &mut Reader<'_>) -> Option<NewClosing> {
    let mut body = r.body();
    let mut seen = HashSet::new();
    let cards = body.items("data", 1..=MAX_CARDS, |item| {
        let card = item.card_ref(&mut seen);
        let reason = item.required("reason", string_enum::<ClosingReason>());
        Some(CardClosing { card: card?, reason: reason? })
    });
    let reference = read_reference(&mut body);
    Some((cards?, reference))
}

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values_of_list(read).await?;
    let bank = ctx.bank_capabilities();
    ctx.mutate(values, move |unit, env, partner, (cards, reference)| -> Result<_, ApiError> {
        bank.require(Capability::Closings)?;
        Ok(accepted(closings::create(unit, env, partner, cards, reference.as_ref())?))
    })
    .await
}

fn accepted(request: Closing) -> api::ClosingCreated {
    api::ClosingCreated { message: ACCEPTED.to_owned(), closing_id: request.id().uuid() }
}

impl From<CreateBatchError<Infallible>> for ApiError {
    fn from(error: CreateBatchError<Infallible>) -> Self {
        not_created(error, "data", |never| match never {})
    }
}
