//! Shows an employee with the cards linked to them.

use kopeck_domain::calendar::Zone;
use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::Employee;
use kopeck_domain::ids::CardId;
use kopeck_service::employees::{self, GetEmployeeError};

use super::{NO_EMPLOYEE, body, body_of_read, read_id};
use crate::operations::prelude::*;
use crate::response::Response;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::EMPLOYEE_GET, Needs::One(Scope::EmployeesRead), handler!(get))
        .reads(reads!(read_id))
        .responds::<api::Data<api::EmployeeWithCards>>(200)
        .tagged()
        .refuses(NO_EMPLOYEE);

async fn get(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    let (employee, cards) =
        ctx.read(id, |unit, _env, partner, id| employees::get(unit, partner, *id)).await?;
    let zone = ctx.zone();
    let response = ctx.respond(&api::Data { data: with_cards(&employee, &cards, zone) })?;
    // As an update responds: linked cards are not part of it, and a phone has one form.
    Ok(Response { tag: ctx.entity_tags().of(&body(&employee, zone)), ..response })
}

pub(super) fn with_cards(
    employee: &Employee,
    cards: &[(CardId, CardStatus)],
    zone: Zone,
) -> api::EmployeeWithCards {
    let card = |(card, status): &(CardId, CardStatus)| api::EmployeeCard {
        id_card: card.uuid(),
        status_card: status.as_str().into(),
    };
    api::EmployeeWithCards { employee: body_of_read(employee, zone), cards: cards.iter().map(card).collect() }
}

impl From<GetEmployeeError> for ApiError {
    fn from(error: GetEmployeeError) -> Self {
        match error {
            GetEmployeeError::NotFound => Code::EmployeeNotFound.into(),
            GetEmployeeError::Store(error) => error.into(),
        }
    }
}
