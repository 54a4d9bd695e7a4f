//! Changes an employee.

use kopeck_domain::employee::Employee;
use kopeck_service::employees::{self, UpdateEmployeeError};

use super::{body, faulty, read_update};
use crate::input::faults::Faults;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::EMPLOYEE_UPDATE, Needs::One(Scope::EmployeesWrite), handler!(update))
        .reads(reads!(read_update))
        .responds::<api::Employee>(200)
        .tagged()
        .conditional()
        .holds_person()
        .refuses(&[Code::EmployeeNotFound, Code::PreconditionFailed]);

async fn update(mut ctx: HandlerContext) -> HandlerResult {
    let (tags, condition) = (ctx.entity_tags(), ctx.input.if_match.clone());
    let ((id, update), mut faults) = ctx.gather(read_update);
    condition.check(&mut faults);
    // Without an identifier the store cannot be queried.
    let values = id.ok_or_else(|| faults.clone()).map(|id| (id, update, faults));
    ctx.mutate(values, move |unit, env, partner, (id, update, faults)| {
        if !faults.is_empty() {
            let conflicts = employees::conflicts_of_update(unit, partner, *id, update)?;
            return Err(faulty(faults.clone(), &conflicts));
        }
        let zone = env.settings.zone;
        let expected = |present: &Employee| condition.is_met_by(|| tags.of(&body(present, zone)));
        let employee = employees::update(unit, env, partner, *id, update, expected)?;
        Ok(body(&employee, zone))
    })
    .await
}

impl From<UpdateEmployeeError> for ApiError {
    fn from(error: UpdateEmployeeError) -> Self {
        match error {
            UpdateEmployeeError::Conflicts(conflicts) => faulty(Faults::new(), &conflicts),
            UpdateEmployeeError::Changed => Code::PreconditionFailed.into(),
            UpdateEmployeeError::NotFound => Code::EmployeeNotFound.into(),
            UpdateEmployeeError::Store(error) => error.into(),
        }
    }
}
