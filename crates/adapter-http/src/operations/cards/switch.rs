//! Changes the status of a linked card.

use kopeck_domain::card::{CardStatus, SwitchRefusal};
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_service::cards::{self, CardKey, SwitchCardError};

use super::link_body;
use crate::input::field_types::{id, string_enum};
use crate::operations::employees::read_id as read_employee;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_SWITCH, Needs::One(Scope::CardsWrite), handler!(switch))
        .reads(reads!(read))
        .responds::<api::LinkedCard>(200)
        .refuses(&[
            Code::EmployeeNotFound,
            Code::CardNotFound,
            Code::CardExpired,
            Code::CardBlocked,
            Code::CardClosed,
            Code::EmployeeHasMainCard,
            Code::CardInRequest,
        ]);

fn read(r: &mut Reader<'_>) -> Option<(EmployeeId, CardId, CardStatus)> {
    let employee = read_employee(r);
    let mut body = r.body();
    let card = body.required("idCard", id::<CardId>().about("A card of this employee.").may_be_clear());
    let status = body.required("statusCard", string_enum::<CardStatus>());
    Some((employee?, card?, status?))
}

async fn switch(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    mutation.context().prepare_card(CardKey::Id(values.1)).await?;
    mutation
        .once(values, |unit, env, partner, (employee, card, status)| {
            cards::switch(unit, env, partner, *employee, *card, *status)
                .map(|card| link_body(*employee, card.id(), *status))
        })
        .await
}

impl From<SwitchCardError> for ApiError {
    fn from(error: SwitchCardError) -> Self {
        match error {
            SwitchCardError::EmployeeNotFound => Code::EmployeeNotFound.into(),
            SwitchCardError::CardNotFound => Code::CardNotFound.into(),
            SwitchCardError::Refused(refusal) => {
                let code = match refusal {
                    SwitchRefusal::Closed => Code::CardClosed,
                    SwitchRefusal::Expired => Code::CardExpired,
                    SwitchRefusal::Blocked => Code::CardBlocked,
                    SwitchRefusal::HasMainCard => Code::EmployeeHasMainCard,
                };
                Self::new(code, refusal.to_string())
            }
            SwitchCardError::BeingClosed(being_closed) => being_closed.into(),
            SwitchCardError::Store(error) => error.into(),
        }
    }
}
