//! Shows an employee with the cards linked to them.

use kopeck_domain::calendar::Zone;
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::CardId;
use kopeck_service::employees::{self, EmployeeWithCards, GetEmployeeError};

use super::{EmployeeDto, NO_EMPLOYEE, PhoneAs, read_id};
use crate::dto::Data;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::EMPLOYEE_GET, handler!(get))
    .reads(reads!(read_id))
    .responds::<Data<EmployeeWithCardsDto>>(200)
    .refuses(NO_EMPLOYEE);

async fn get(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    let found = ctx.read(id, |unit, _env, partner, id| employees::get(unit, partner, *id)).await?;
    ctx.respond(&Data { data: EmployeeWithCardsDto::new(&found, ctx.zone()) })
}

api_type! {
    /// An employee with the cards linked to them.
    pub(super) struct EmployeeWithCardsDto as "EmployeeWithCards" {
        /// The employee.
        #[serde(flatten)]
        employee: EmployeeDto,
        /// The cards linked to them.
        cards: Vec<LinkedCardDto>,
    }
}

api_type! {
    /// A card linked to an employee.
    struct LinkedCardDto as "LinkedCard" {
        /// The card.
        id_card: CardId,
        /// Its status.
        status_card: CardStatus,
    }
}

impl EmployeeWithCardsDto {
    pub(super) fn new(found: &EmployeeWithCards, zone: Zone) -> Self {
        let card = |(id_card, status_card): &(CardId, CardStatus)| LinkedCardDto {
            id_card: *id_card,
            status_card: *status_card,
        };
        Self {
            employee: EmployeeDto::new(&found.employee, PhoneAs::Number, zone),
            cards: found.cards.iter().map(card).collect(),
        }
    }
}

impl From<GetEmployeeError> for ApiError {
    fn from(error: GetEmployeeError) -> Self {
        match error {
            GetEmployeeError::NotFound => Code::EmployeeNotFound.into(),
            GetEmployeeError::Store(error) => error.into(),
        }
    }
}
