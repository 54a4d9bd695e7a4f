//! Unlinks a card from its employee.

use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_service::cards::{self, CardKey, UnlinkCardError};

use super::read_id;
use crate::operations::employees::read_id as read_employee;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_UNLINK, Needs::One(Scope::CardsWrite), handler!(unlink))
        .reads(reads!(read))
        .responds::<api::UnlinkedCard>(200)
        .refuses(&[Code::EmployeeNotFound, Code::CardNotFound, Code::CardInUse, Code::CardInRequest]);

fn read(r: &mut Reader<'_>) -> Option<(EmployeeId, CardId)> {
    let (employee, card) = (read_employee(r), read_id(r));
    Some((employee?, card?))
}

async fn unlink(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    // Whether it was activated, and what it holds, is the bank's to say.
    mutation.context().prepare_card(CardKey::Id(values.1)).await?;
    mutation
        .once(values, |unit, env, partner, (employee, card)| {
            cards::unlink(unit, env, partner, *employee, *card)
                .map(|card| api::UnlinkedCard { id_employee: employee.uuid(), id_card: card.id().uuid() })
        })
        .await
}

impl From<UnlinkCardError> for ApiError {
    fn from(error: UnlinkCardError) -> Self {
        match error {
            UnlinkCardError::EmployeeNotFound => Code::EmployeeNotFound.into(),
            UnlinkCardError::CardNotFound => Code::CardNotFound.into(),
            UnlinkCardError::Refused(refusal) => Self::new(Code::CardInUse, refusal.to_string()),
            UnlinkCardError::BeingClosed(being_closed) => being_closed.into(),
            UnlinkCardError::Store(error) => error.into(),
        }
    }
}
