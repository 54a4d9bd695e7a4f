//! Links a card to an employee.

use kopeck_domain::card::{CardStatus, LinkRefusal};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::EmployeeId;
use kopeck_service::cards::{self, CardKey, LinkCardError};

use super::link_body;
use crate::input::field_types::{string_enum, text};
use crate::operations::employees::read_id as read_employee;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_LINK, Needs::One(Scope::CardsWrite), handler!(link))
        .reads(reads!(read))
        .responds::<api::LinkedCard>(200)
        .refuses(&[
            Code::EmployeeNotFound,
            Code::CardNotFound,
            Code::CardLinkedToAnother,
            Code::CardClosed,
            Code::CardAlreadyLinked,
            Code::CardExpired,
            Code::CardNotAvailable,
            Code::EmployeeHasMainCard,
            Code::CardInRequest,
        ]);

fn read(r: &mut Reader<'_>) -> Option<(EmployeeId, CardNumber, CardStatus)> {
    let employee = read_employee(r);
    let mut body = r.body();
    let number = text(CardNumber::parse)
        .about("The bank's number of an unassigned card: 13 digits (EAN) or 10 (virtual).");
    let number = body.required("customIdCard", number);
    let status = body.required("statusCard", string_enum::<CardStatus>());
    Some((employee?, number?, status?))
}

async fn link(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    mutation.context().prepare_card(CardKey::Number(values.1)).await?;
    mutation
        .once(values, |unit, env, partner, (employee, number, status)| {
            cards::link(unit, env, partner, *employee, *number, *status)
                .map(|card| link_body(*employee, card.id(), *status))
        })
        .await
}

impl From<LinkCardError> for ApiError {
    fn from(error: LinkCardError) -> Self {
        match error {
            LinkCardError::EmployeeNotFound => Code::EmployeeNotFound.into(),
            LinkCardError::CardNotFound => Code::CardNotFound.into(),
            LinkCardError::Refused(refusal) => {
                let code = match refusal {
                    LinkRefusal::Closed => Code::CardClosed,
                    LinkRefusal::AlreadyLinked => Code::CardAlreadyLinked,
                    LinkRefusal::LinkedToAnother => Code::CardLinkedToAnother,
                    LinkRefusal::NotAvailable => Code::CardNotAvailable,
                    LinkRefusal::Expired => Code::CardExpired,
                    LinkRefusal::HasMainCard => Code::EmployeeHasMainCard,
                };
                Self::new(code, refusal.to_string())
            }
            LinkCardError::BeingClosed(being_closed) => being_closed.into(),
            LinkCardError::Store(error) => error.into(),
        }
    }
}
