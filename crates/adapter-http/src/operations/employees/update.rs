//! Changes an employee.

use kopeck_service::employees::{self, UpdateEmployeeError};

use super::{NO_EMPLOYEE, body, faulty, read_update};
use crate::input::faults::Faults;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::EMPLOYEE_UPDATE, handler!(update))
    .reads(reads!(read_update))
    .responds::<api::Employee>(200)
    .holds_person()
    .refuses(NO_EMPLOYEE);

async fn update(mut ctx: HandlerContext) -> HandlerResult {
    let ((id, update), faults) = ctx.gather(read_update);
    // Without an identifier the store cannot be queried.
    let values = id.ok_or_else(|| faults.clone()).map(|id| (id, update, faults));
    ctx.mutate(values, |unit, env, partner, (id, update, faults)| {
        if !faults.is_empty() {
            let conflicts = employees::conflicts_of_update(unit, partner, *id, update)?;
            return Err(faulty(faults.clone(), &conflicts));
        }
        let employee = employees::update(unit, env, partner, *id, update)?;
        Ok(body(&employee, env.settings.zone))
    })
    .await
}

impl From<UpdateEmployeeError> for ApiError {
    fn from(error: UpdateEmployeeError) -> Self {
        match error {
            UpdateEmployeeError::Conflicts(conflicts) => faulty(Faults::new(), &conflicts),
            UpdateEmployeeError::NotFound => Code::EmployeeNotFound.into(),
            UpdateEmployeeError::Store(error) => error.into(),
        }
    }
}
